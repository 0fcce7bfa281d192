"""The registry: the paper's code, name, shape and target, and what is known about each table.

1-NN and 3-NN have no settings, so they are the fingerprint of the data; "agrees" is within one
point of the paper over ten times ten folds. How they depend on scaling and splitting:
`benchmarks/paper/fingerprints.py`. The paper's LDA and SVM settings are not identified; those
columns are no evidence.
"""

from __future__ import annotations

from paper.datasets.record import Dataset

_SMALL = [
    Dataset(
        "BCW",
        "Breast Cancer Coimbra",
        9,
        116,
        "Classification",
        ("healthy", "patient"),
        "The paper calls it Breast Cancer Wisconsin (Prognostic), which has 198 rows and over "
        "30 features; 9 x 116 is Coimbra (UCI 451). 1NN agrees if the table is scaled before it "
        "is split; 3NN is 2 points below the paper.",
    ),
    Dataset("CRY", "Cryotherapy", 6, 90, "Result_of_Treatment", ("0", "1")),
    Dataset(
        "CUS",
        "Wholesale customers",
        7,
        440,
        "Channel",
        ("1", "2"),
        "1NN and 3NN agree; LDA differs from the paper by 5 points.",
    ),
    Dataset(
        "ECO",
        "Ecoli",
        5,
        220,
        "site",
        ("cp", "im"),
        "Exact shape after dropping lip (two values) and chg (constant).",
    ),
    Dataset("GLA", "Glass identification", 9, 146, "Type", ("1", "2")),
    Dataset(
        "HMS",
        "Haberman's survival",
        3,
        306,
        "Survival status",
        ("1", "2"),
        "1NN and 3NN agree; SV2 and LDA differ from the paper by 6 to 9 points.",
    ),
    Dataset(
        "IMM",
        "Immunotherapy",
        7,
        90,
        "Result_of_Treatment",
        ("0", "1"),
        "3NN agrees; 1NN is 2 points above the paper, less if the table is scaled once.",
    ),
    Dataset(
        "ION",
        "Ionosphere",
        32,
        351,
        "Class",
        ("b", "g"),
        "V1 (binary) and V2 (constant) dropped: an inference from the paper's 32 features.",
    ),
    Dataset(
        "LYM",
        "Lymphography",
        16,
        142,
        "class",
        ("malign_lymph", "metastases"),
        "Which two of the 18 columns the paper dropped is not known: the two most nearly "
        "constant ones are dropped here. Its 1NN and 3NN are not reproduced exactly.",
    ),
    Dataset(
        "MON",
        "MONK-1",
        6,
        432,
        "(a1 = a2) or (a5 = 1)",
        ("0", "1"),
        "MONK-1, all 432 rows: MONK-2 and MONK-3 miss the paper's SV2 by 22 and 5 points. "
        "Distances tie, and how a tie is broken decides: scikit-learn's 1NN is 72 if the table "
        "is scaled inside the folds and 83 if scaled once; R's class::knn gives 75.0, the paper "
        "has 75.1.",
    ),
    Dataset(
        "PAR",
        "Parkinsons",
        22,
        194,
        "status",
        ("0", "1"),
        "The authors' own copy lacks the first of the 195 UCI rows.",
    ),
    Dataset(
        "PID",
        "Pima Indians diabetes",
        8,
        768,
        "diabetes",
        ("0", "1"),
        "Zeros stand for missing values in the original and were left.",
    ),
    Dataset("SMR", "Sonar, mines against rocks", 60, 208, "Class", ("M", "R")),
    Dataset(
        "STA",
        "Statlog (Heart)",
        12,
        256,
        "thal",
        ("normal", "reversible_defect"),
        "The paper took column 13 (thal, 3 against 7) as the label and left the disease label "
        "out: the shape and all four checked accuracies say so.",
    ),
    Dataset("URB", "Urban land cover", 147, 238, "class", ("building", "concrete")),
    Dataset("USE", "User knowledge modeling", 5, 251, "UNS", ("Low", "Middle")),
    Dataset("WIN", "Wine", 13, 130, "cultivar", ("0", "1")),
]

_LARGE = [
    Dataset("CRO", "Crowdsourced mapping", 28, 9003, "class", ("farm", "forest")),
    Dataset("ELE", "Electrical grid stability", 12, 10000, "stabf", ("stable", "unstable")),
    Dataset(
        "WAV",
        "Waveform, version 1",
        21,
        3304,
        "class",
        ("0", "1"),
        "3304 rows are the first two classes; the two largest would be 0 and 2, so the paper "
        "did not follow its own rule here.",
    ),
]

_GENE = [
    Dataset(
        "GLI", "Gliomas (Freije 2004)", 22283, 85, "survival", ("1", "2"), "Not obtained so far."
    ),
    Dataset(
        "COL",
        "Colon (Alon 1999)",
        2000,
        62,
        "tissue",
        ("n", "t"),
        "Raw intensities; the discretised version that circulates fits the paper equally well.",
    ),
    Dataset("ELO", "Myeloma (Tian 2003)", 12625, 173, "lesions", ("0", "1"), "Not obtained."),
    Dataset(
        "BRE",
        "Breast (van 't Veer 2002)",
        24481,
        78,
        "metastasis",
        ("DM", "NODM"),
        "Same shape, other accuracies (1NN 59 against the paper's 83); genes chosen on all rows "
        "before splitting would come near. 36,458 missing cells.",
    ),
    Dataset(
        "PRO",
        "Prostate (Singh 2002)",
        12600,
        136,
        "tissue",
        ("Normal", "Tumor"),
        "102 of the paper's 136 rows: the second part of its samples was not found.",
    ),
]

_SYNTHETIC = [
    Dataset(
        "SYN",
        "Section 4.1, 10 % noise",
        2,
        220,
        "which Gaussian",
        ("0", "1"),
        "Not in the paper's tables; needs no file, so that a trial run has three data sets.",
    ),
]

SMALL = tuple(d.code for d in _SMALL)
LARGE = tuple(d.code for d in _LARGE)
GENE = tuple(d.code for d in _GENE)
SYNTHETIC = tuple(d.code for d in _SYNTHETIC)
DATASETS = {d.code: d for d in _SMALL + _LARGE + _GENE + _SYNTHETIC}
