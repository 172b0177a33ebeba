// An answer as flowing text: citations are buttons, verdicts are marks with their reason.

// What is a marker is also written in core/evidence/numbering.py, which has to agree.
const NUMBER = "[0-9０-９]{1,3}"
const BLANK = "[ \\t\\u00a0\\u2000-\\u200a\\u202f\\u3000]"
const DASH = `${BLANK}*[–—‑\\-－~～至]${BLANK}*`
const BETWEEN = `(?:${BLANK}*[,，、;；|&和]${BLANK}*|${BLANK}+and${BLANK}+)`
const BEFORE = `(?:(?:passages?|pp?\\.?|段落?|第|\\^)${BLANK}*)?`
const AFTER = `(?:${BLANK}*段落?)?`
const ITEM = `${BEFORE}${NUMBER}${AFTER}`
const GROUP = new RegExp(
  `[\\[［【]${BLANK}*(${ITEM}(?:(?:${DASH}|${BETWEEN})${ITEM})*)${BLANK}*[\\]］】]`, "gi")
const RANGE = new RegExp(`(${NUMBER})${AFTER}${DASH}${BEFORE}(${NUMBER})`, "gi")
const LONGEST_RANGE = 20
const SETTLES_MS = 600
const BOLD = /\*\*(?=\S)([^*]+?)(?<=\S)\*\*/g
const BULLET = /^\s*[-•*–][ \t]+/
const ORDINAL = /^\s*(\d{1,3})(?:[.)][ \t]+|、\s*)/
const CJK = /[\u2e80-\u9fff\uff00-\uffef]/
const STOP = /^[.,;:!?)\]。，、；：！？）」』]+/
const ICONS = { supported: "✓", partly: "◐", contradicted: "✗", unsupported: "○" }

/** A number written in ASCII or full-width digits. */
const valueOf = (digits) => Number(digits.normalize("NFKC"))

/** The numbers of one bracketed group, ranges written out. */
function numbersOf(group) {
  const listed = group.replace(RANGE, (_, first, last) => {
    const [from, to] = [valueOf(first), valueOf(last)]
    if (!(from < to && to <= from + LONGEST_RANGE)) return `${from},${to}`
    return Array.from({ length: to - from + 1 }, (_, i) => from + i).join(",")
  })
  return listed.match(new RegExp(NUMBER, "g")).map(valueOf)
}

/** The existing citations a group names: none for an interval such as [0, 1]. */
function citedIn(group, existing) {
  const numbers = group ? numbersOf(group[1]) : []
  return numbers.includes(0) ? [] : numbers.filter((n) => existing.includes(n))
}

/** Cut `text` at the matches of a pattern: [piece, match or null], in order. */
function cut(text, pattern) {
  const pieces = []
  let last = 0
  for (const match of text.matchAll(pattern)) {
    pieces.push([text.slice(last, match.index), null], [match[0], match])
    last = match.index + match[0].length
  }
  return [...pieces, [text.slice(last), null]].filter(([piece]) => piece)
}

/** Sort an answer's parts into blocks: headings, paragraphs, list items, tables, claims. */
function blocksOf(parts) {
  return parts.flatMap((part) => {
    const title = part.title ? [{ kind: "h4", text: part.title }] : []
    return [...title, ...(part.kind === "text" ? paragraphs(part.sentences) : [part])]
  })
}

/** Sort sentences into paragraphs and list items: [{kind, value, parts: [{text, sentence}]}]. */
function paragraphs(sentences) {
  const blocks = []
  for (const sentence of sentences) {
    let breaks = sentence.paragraph ?? false
    for (const line of sentence.text.split("\n")) {
      if (!line.trim()) { breaks = true; continue }
      const block = blockOf(line)
      const begins = block.kind !== "p" || breaks || !blocks.length
      if (begins) blocks.push(block)
      const text = begins ? block.text : line
      blocks.at(-1).parts.push({ text: text.trim(), sentence, ends: false })
      breaks = false
    }
    const part = blocks.at(-1)?.parts.at(-1)
    if (part?.sentence === sentence) part.ends = true
  }
  return blocks
}

function blockOf(line) {
  const ordinal = line.match(ORDINAL)
  if (ordinal) {
    return { kind: "ol", value: ordinal[1], text: line.slice(ordinal[0].length), parts: [] }
  }
  if (BULLET.test(line)) return { kind: "ul", text: line.replace(BULLET, ""), parts: [] }
  return { kind: "p", text: line, parts: [] }
}

/** What every block is drawn by, beside its own sentences. */
const drawnBy = (data) => [data?.labels, data?.shown]

class Answer {
  constructor(parent) {
    this.root = el("div", { class: "lectern-answer" })
    this.tip = el("div", { class: "lectern-tip", "aria-hidden": "true", hidden: "" })
    this.body = el("div", {})
    this.root.append(this.body, this.tip)
    this.root.addEventListener("keydown", (event) => event.key === "Escape" && this.hideTip())
    parent.append(this.root)
    this.drawn = []
    this.chosen = null
  }

  remove() {
    clearTimeout(this.settling)
    this.root.remove()
  }

  update(data) {
    const before = this.data
    this.data = data
    this.draw(blocksOf(data.parts), !same(drawnBy(before), drawnBy(data)))
    this.showCurrent()
    if (!before) this.revealOnceSettled()
    else if (before.current !== data.current && this.chosen !== data.current) this.reveal()
    this.chosen = null
  }

  /** Redraw the blocks that changed and leave the others: focus and selection stay in them. */
  draw(blocks, all) {
    blocks.forEach((block, i) => {
      const written = JSON.stringify(block)
      if (!all && this.drawn[i] === written) return
      const node = this.block(block)
      if (i < this.body.children.length) this.body.children[i].replaceWith(node)
      else this.body.append(node)
      this.drawn[i] = written
    })
    this.drawn.length = blocks.length
    while (this.body.children.length > blocks.length) this.body.lastChild.remove()
  }

  block(block) {
    if (block.kind === "h4") return el("h4", {}, block.text)
    if (block.kind === "table") return this.table(block)
    if (block.kind === "claims") return this.claims(block)
    const children = this.flow(block.parts)
    if (block.kind === "p") return el("p", {}, ...children)
    return el(block.kind, { start: block.value }, el("li", {}, ...children))
  }

  flow(parts) {
    return parts.flatMap((part, i) => [this.gap(parts[i - 1], part), this.part(part)])
  }

  table({ columns, heads, rows, title }) {
    const top = columns.map((name) => el("th", { scope: "col" }, name))
    const body = rows.map((cells, i) => el("tr", {},
      el("th", { scope: "row" }, heads[i]),
      ...cells.map((sentences) => el("td", {}, ...this.cell(sentences)))))
    const table = el("table", {},
      el("thead", {}, el("tr", {}, el("td", {}), ...top)), el("tbody", {}, ...body))
    return el("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": title }, table)
  }

  cell(sentences) {
    const blocks = paragraphs(sentences)
    return blocks.length ? blocks.map((block) => this.block(block)) : ["—"]
  }

  /** What somebody stated, and under it the passages that were found on it. */
  claims({ sentences }) {
    return el("ol", { class: "claims" }, ...sentences.map((sentence) => {
      const parts = [{ text: sentence.text, sentence, ends: true }]
      const found = (sentence.quoted ?? sentence.citations).map((n) => el("blockquote", {},
        this.citation(n), " ", el("bdi", {}, this.data.labels.quotes[n] ?? "")))
      return el("li", {}, ...this.flow(parts), ...found)
    }))
  }

  /** Chinese sentences follow one another without a space. */
  gap(before, part) {
    if (!before) return ""
    return CJK.test(before.text.at(-1)) && CJK.test(part.text[0]) ? "" : " "
  }

  part({ text, sentence, ends }) {
    const node = el("span", { class: "sentence", "data-cites": sentence.citations.join(" ") })
    const words = el("bdi", {})
    for (const [piece, bold] of cut(text, BOLD)) {
      const written = this.cited(bold ? bold[1] : piece, sentence)
      if (bold) words.append(el("strong", {}, ...written))
      else words.append(...written)
    }
    node.append(words)
    if (ends) node.append(...this.marks(sentence))
    return node
  }

  cited(text, sentence) {
    const nodes = []
    for (const [piece, group] of cut(text, GROUP)) {
      const numbers = citedIn(group, sentence.citations)
      if (numbers.length) nodes.push(...numbers.map((n) => this.citation(n)))
      else nodes.push(...this.plain(piece, nodes))
    }
    return nodes
  }

  /** Keep the stop after a citation on the citation's line. */
  plain(piece, nodes) {
    const stop = nodes.length ? piece.match(STOP)?.[0] : null
    if (!stop) return [piece]
    return [el("span", { class: "together" }, nodes.pop(), stop), piece.slice(stop.length)]
  }

  citation(n) {
    const label = this.data.labels.citations[n] ?? `[${n}]`
    const choose = () => {
      this.chosen = n
      this.trigger("open", n)
    }
    const button = { type: "button", class: "cite", "data-n": n, "aria-label": label, title: label }
    return el("button", { ...button, onclick: choose }, `[${this.data.shown[n] ?? n}]`)
  }

  marks(sentence) {
    const { verdicts, removed } = this.data.labels
    const marks = []
    if (sentence.verdict) {
      const word = verdicts[sentence.verdict] ?? sentence.verdict
      marks.push(this.mark(sentence.verdict, ICONS[sentence.verdict] ?? "?", word, sentence.reason))
    }
    if (sentence.caution) {
      const { word, reason } = sentence.caution
      marks.push(this.mark("caution", "⚠", word, reason))
    }
    if (sentence.removed?.length) {
      const numbers = sentence.removed.map((n) => `[${n}]`).join(" ")
      marks.push(this.mark("removed", "⌫", "", fill(removed, { numbers })))
    }
    return marks
  }

  mark(kind, sign, word, reason) {
    const label = [word, reason].filter(Boolean).join(": ")
    const node = el("button", { type: "button", class: `verdict ${kind}`, "aria-label": label },
      el("span", { class: "sign", "aria-hidden": "true" }, sign))
    if (kind !== "supported" && word) node.append(el("span", { class: "word" }, word))
    const show = () => this.showTip(node, reason || word)
    for (const event of ["pointerenter", "focus", "click"]) node.addEventListener(event, show)
    for (const event of ["pointerleave", "blur"]) node.addEventListener(event, () => this.hideTip())
    return node
  }

  showTip(node, text) {
    this.tip.textContent = text
    this.tip.hidden = false
    const [mark, root] = [node.getBoundingClientRect(), this.root.getBoundingClientRect()]
    const room = root.width - this.tip.offsetWidth
    this.tip.style.left = `${Math.max(0, Math.min(mark.left - root.left, room))}px`
    this.tip.style.top = `${mark.bottom - root.top + 6}px`
  }

  hideTip() {
    this.tip.hidden = true
  }

  showCurrent() {
    const { current } = this.data
    for (const button of this.root.querySelectorAll(".cite")) {
      put(button, "aria-current", Number(button.dataset.n) === current ? "true" : null)
    }
    for (const node of this.root.querySelectorAll(".sentence")) {
      const cites = node.dataset.cites.split(" ").includes(String(current))
      node.classList.toggle("current", cites)
    }
  }

  /** A page that is opened is still laid out, and its chat scrolls to its end, for a moment. */
  revealOnceSettled() {
    if (this.data.current === null) return
    const over = new AbortController()
    const stay = { signal: over.signal, once: true, passive: true }
    this.settling = setTimeout(() => { over.abort(); this.reveal() }, SETTLES_MS)
    const leave = () => { over.abort(); clearTimeout(this.settling) }
    for (const event of ["wheel", "touchmove", "keydown"]) addEventListener(event, leave, stay)
  }

  reveal() {
    const sentence = this.root.querySelector(".sentence.current")
    sentence?.scrollIntoView({ block: "nearest", behavior: behavior() })
  }
}

export default mounting((parent) => new Answer(parent))
