# SPDX-License-Identifier: Apache-2.0
# The gallery: every tutorial with what its first command prints, and pictures and reports of its kernels and graphs.
import html, os, re, shlex, subprocess, tempfile

TARGET = "sm_90a"
SOFTMAX = "--num-warps 8 -D ROWS=1 -D BLOCK=16384 --signature x=*f32:16,out=*f32:16,rows=i32,columns=i32:16,x_stride=i32:16,out_stride=i32:16"
NORM = "--kernel layer_norm --num-warps 4 -D ROWS=1 -D BLOCK=4096 --signature " \
       "x=*f16:16,weight=*f16:16,bias=*f16:16,out=*f16:16,mean=*f32:16,rstd=*f32:16,rows=i32,columns=i32:16,eps=f32"
MATRICES = "--signature M=i32:16,N=i32:16,K=i32:16,a_stride=i32:16,b_stride=i32:16,c_stride=i32:16"
# Tutorial, file, options: what has a report.
REPORTS = [
    ("01-vector-add", "add.tile", ""),
    ("02-fused-elementwise", "fused.tile", ""),
    ("03-fused-softmax", "softmax.tile", SOFTMAX),
    ("04-layer-norm", "layer_norm.tile", NORM),
    ("05-dropout", "dropout.tile", "-D BLOCK=1024 --signature x=*f32:16,out=*f32:16,n=i32,p=f32,seed=i32"),
    ("06-matmul", "matmul.tile", "--kernel matmul --num-warps 8 -D BLOCK_N=256 --signature N=i32:16,K=i32:16"),
    ("07-flash-attention", "attention.tile", "--kernel attention"),
    ("08-autotune", "gemv.tile", ""),
    ("09-persistent-matmul", "persistent.tile", "--num-warps 8 " + MATRICES),
    ("10-attention-training", "training.tile", "--kernel key_gradients"),
    ("11-fp8-matmul", "fp8.tile", ""),
    ("13-graph-from-fx", "model.py", ""),
    ("13-graph-from-fx", "sin_cos.py", ""),
    ("14-grouped-matmul", "grouped.tile", "-D GROUPS=8 --num-warps 8"),
    ("15-decode-attention", "decode.tile", ""),
]
# Tutorial, file, options of a tuning on this machine's processor, whose picture is shown.
TUNINGS = [
    ("08-autotune", "gemv.tile", "--arg a=f32[1000x1000]:rand(0) --arg x=f32[1000]:rand(1) --arg y=f32[1000]:zeros --arg M=1000 --arg N=1000 --arg stride=1000 "
     "--grid cdiv(M,BLOCK_M) --space BLOCK_M=4..64:x2,BLOCK_N=64..1024:x2 --effort full --budget 20"),
]
MOST_LINES = 14  # of a tutorial's output


def first_command(root, tutorial):
    """The first command of a tutorial's page, without what needs PyTorch; None: there is none."""
    with open(os.path.join(root, "tutorials", tutorial, "README.md"), encoding="utf-8") as f:
        block = re.search(r"\n\n((?:    .*\n)+)", f.read())
    command = block and re.sub(r"\\\n\s*", "", block[1]).strip().split("\n")[0].removeprefix("$ ")
    return command if command and command.startswith("build/") else None


def run(root, build, command):
    """What a command prints; folders named FOLDER, and files in /tmp, are new ones."""
    with tempfile.TemporaryDirectory() as scratch:
        words = [w.replace("/tmp/", "FOLDER/").replace("FOLDER", scratch) for w in shlex.split(command)]
        words[0] = os.path.join(build, words[0].removeprefix("build/"))
        env = dict(os.environ, TILE_CACHE_DIR=os.path.join(scratch, "cache"), NO_COLOR="1")
        done = subprocess.run(words, cwd=root, env=env, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(f"{command}: status {done.returncode}\n{done.stderr}")
    return (done.stdout + done.stderr).strip()


def shorten(text):
    lines = text.split("\n")
    return "\n".join(lines[: MOST_LINES - 1] + [f"... {len(lines) - MOST_LINES + 1} more lines"] if len(lines) > MOST_LINES else lines)


def tilec(root, build, words):
    done = subprocess.run([os.path.join(build, "tilec"), *words], cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"tilec {shlex.join(words)}: status {done.returncode}\n{done.stderr}")


def make_report(root, build, output, tutorial, name, options):
    """Writes the report and the picture; their paths in the site."""
    source = os.path.join("tutorials", tutorial, name)
    stem = f"reports/{tutorial}-{os.path.splitext(name)[0]}"
    os.makedirs(os.path.join(output, "reports"), exist_ok=True)
    page, picture = stem + ".html", stem + ".svg"
    common = [source, "--target", TARGET, "--no-tunings", "--quiet"] + shlex.split(options)
    explain = ["graph", *common, "--explain-fusion"] if name.endswith(".py") else ["compile", *common, "--explain-perf"]
    for words in (["report", *common, "-o", os.path.join(output, page)], explain + ["--svg", os.path.join(output, picture)]):
        tilec(root, build, words)
    return page, picture


def make_tuning(root, build, output, tutorial, name, options):
    """Tunes, and writes the picture; its path in the site."""
    picture = f"reports/{tutorial}-tuning.svg"
    with tempfile.TemporaryDirectory() as scratch:
        tilec(root, build, ["tune", os.path.join("tutorials", tutorial, name), "--target", "cpu", *options.split(), "--no-resume", "--quiet",
                            "--tune-file", os.path.join(scratch, "tune.json"), "--svg", os.path.join(output, picture)])
    return picture


def titles(root):
    """Of each tutorial: what its row in tutorials/README.md says, as (kernel, what it shows)."""
    with open(os.path.join(root, "tutorials", "README.md"), encoding="utf-8") as f:
        rows = re.findall(r"^\| \[([^]]*)\]\([^)]*\) \| (.*?) \| (.*?) \|$", f.read(), flags=re.M)
    return {name: (kernel, shows) for name, kernel, shows in rows}


def make(root, build, output, words):
    """The body of the gallery. `words` converts a line of Markdown."""
    out = ["<h1>Gallery</h1>", "<p>Every tutorial: what its first command prints on a processor, and the pictures of its kernels for "
           f"<code>{TARGET}</code>, made by <code>tilec report</code>. Nothing here was measured on a GPU.</p>"]
    for tutorial, (kernel, shows) in titles(root).items():
        out.append(f'<section class="card"><h2 id="{tutorial}"><a href="tutorials/{tutorial}/index.html">{tutorial}</a></h2>')
        out.append(f"<p>{words(kernel)}: {words(shows)}</p>")
        command = first_command(root, tutorial)
        if command:
            printed = run(root, build, command)
            out.append(f'<pre tabindex="0">$ {html.escape(command)}\n{html.escape(shorten(printed))}</pre>')
        for of, name, options in REPORTS:
            if of == tutorial:
                page, picture = make_report(root, build, output, of, name, options)
                out.append(f'<figure tabindex="0"><a href="{page}"><img src="{picture}" alt="costs of {name}"></a>'
                           f'<figcaption>{name}: <a href="{page}">the whole report</a></figcaption></figure>')
        for of, name, options in TUNINGS:
            if of == tutorial:
                picture = make_tuning(root, build, output, of, name, options)
                out.append(f'<figure tabindex="0"><a href="{picture}"><img src="{picture}" alt="times of the configurations of {name}"></a>'
                           f'<figcaption>{name}: a tuning, measured on a processor when this site was made</figcaption></figure>')
        out.append("</section>")
    return "\n".join(out)
