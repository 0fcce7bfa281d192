"""
A Dask cluster
==============

`immigrate.cluster.on` sends the passes of a fit to a Dask cluster. Tables that no memory holds
come in as Dask collections: rows are drawn for the fit, and predictions are lazy.

Here the cluster is two threads of this process, so that the page needs nothing else; with a real
one, `Client("tcp://scheduler:8786")` is all that changes. ``pip install
'immigrate[distributed]'``.
"""

# %%
# A table in four partitions. Nothing says how many rows there are before somebody asks.
import dask
import dask.dataframe as dd
import matplotlib.pyplot as plt
import pandas as pd
from distributed import Client, LocalCluster

from immigrate import ImmigrateClassifier
from immigrate.cluster import on
from immigrate.datasets import make_xor

dask.config.set({"distributed.admin.system-monitor.log-length": 1})
X, y = make_xor(8000, 6, noise=0.1, random_state=0)
table = dd.from_pandas(X.assign(label=y), npartitions=4)

cluster = LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None)
client = Client(cluster)

# %%
# The fit draws 2,000 rows, each class in proportion, and its passes run on the workers.
with on(client, n_drawn=2000):
    model = ImmigrateClassifier(sigma=1.0).fit(table.drop(columns="label"), table["label"])

# %%
# Predictions of the whole table are a Dask array: nothing is computed before `compute`.
predicted = model.predict(table.drop(columns="label"))
print(predicted)
accuracy = (predicted.compute() == y).mean()
print(f"{100 * accuracy:.1f} % of 8,000 rows are predicted correctly; 90 % is the most possible.")

# %%
# The model keeps nothing of the cluster.
client.close()
cluster.close()

importance = pd.Series(model.feature_importances_, index=X.columns)
figure, ax = plt.subplots(figsize=(7, 2.6), layout="constrained")
importance.plot.barh(ax=ax, color="C0")
ax.invert_yaxis()
ax.set_xlabel("share of all weights")
