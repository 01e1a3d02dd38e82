"""What web addresses end in, and what looks like one and is code: interviews are about software."""

from __future__ import annotations

import re

PLAIN = frozenset(re.findall(r"\w+", "com org net edu gov mil"))
"""Endings that nothing in code has."""
GENERIC = frozenset(
    re.findall(
        r"\w+",
        """io dev ai app info biz mobi tech xyz cloud online site website shop blog wiki digital agency studio
    solutions systems software engineering company world zone media news press computer consulting design
    education academy institute university college school science foundation ventures capital finance bank
    fund global international health clinic legal law energy green eco bio pro club vip games guru rocks
    expert support services tools hosting social community technology technologies security gmbh ltd llc inc
    berlin hamburg koeln cologne bayern nrw ruhr wien swiss zuerich paris london amsterdam brussels nyc
    tokyo moscow istanbul madrid barcelona scot wales quebec africa asia""",
    )
)
COUNTRIES = frozenset(
    re.findall(
        r"\w+",
        """ae af ar at au az ba bd be bg bh bo br by ca ch cl cn co cr cu cy cz de dk dz ec ee eg es et eu fi fr gb gh
    gr hk hr hu ie il in iq ir it jm jp ke kg kh kr kw kz li lk lu lv ly mc mt mu mx mz ng nl no nz pa pe ph
    pk pl pr qa ro ru rw sa se sg si sk sn su sv sy th tn tr tv tw tz ua ug uk us uy uz ve vn za zm zw""",
    )
)
"""Without those that are types of files, or what programs call their parts: md, pt, py, rs, sh; al, id, lb, me, to."""
ENDS = PLAIN | GENERIC | COUNTRIES
_FILES = frozenset(
    re.findall(
        r"\w+",
        """bat bib bin bz c cc cfg ckpt cl conf cpp cs css csv cu cxx db dll doc docx dylib env err exe gif go gz h hdf
    hpp hs htm html in ini ipynb jar java jl jpeg jpg js json jsx kt la lock log lua m mat md mk ml mm mov
    mp mp4 npy npz onnx out parquet pb pdf php pickle pkl pl png ppt pptx proto ps pt pth py pyc pyx r rb rs
    rst safetensors scala sh so sql sqlite srt st svg swift tar tex tf tflite tmp toml ts tsv tsx txt vtt
    wav whl xls xlsx xml xz yaml yml zip""",
    )
)
_ROOTS = frozenset(
    re.findall(
        r"\w+",
        """a args array b batch c cfg client cls conf config console ctx cv cv2 data dataset dataloader datetime db
    decoder df dict dist document e encoder env error event ex f file flax fn func g graph gym h i img input
    inputs item j jax jnp json k keras layer layers lib list loader log logger logging logits loss lr m math
    matplotlib mod model models module n net network nn node np num numpy obj object ops optim optimizer os
    output outputs p pandas params pd pipeline plt pytorch random re req request requests res response
    result s scipy self sequence session set settings skimage sklearn sns std str string sys t tensor
    tensorboard tensorflow tf this thread time torch torchvision train trainer transformers user util utils
    v val w weights window x y z""",
    )
)
"""What parts of programs are called by: what follows them is a part, and no address."""
_PARTS = frozenset(
    re.findall(
        r"\w+",
        """all append apply backward base build call cat compile config copy cpu cuda data detach device dtype encode
    eval evaluate extend fit forward format from functional get grad id init input int is item items join
    keys keras layers len linear load log loss map mean name new nn numpy ops optim optimizers parameters
    predict pop print quantize read reshape run save score set shape show size sleep split squeeze start
    step stop str sum tensor test to tolist train transform transpose type update utils value values view
    weight weights write zeros""",
    )
)


def is_code(address: str) -> bool:
    """Whether words with full stops between them are a file, part of a program, or two sentences without a space."""
    *labels, ending = address.split(".")
    if ending.lower() in PLAIN:
        return False
    if "_" in address or ending.istitle() or ending.lower() in _PARTS:
        return True
    first = labels[0].lower()
    if ending.lower() in _FILES and ending.lower() not in ENDS:
        return True
    return first in _ROOTS or not any(letter.isalpha() for letter in first)
