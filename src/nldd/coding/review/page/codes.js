// The codes as toggles, with a key on each, and a field that finds them by typing.

import { button, element, findField, keyCap, put } from './elements.js'
import { isComposing } from './keys.js'
/** @import { App, Code } from './shapes.js' */

// From so many codes on the field that finds them is always there.
const MANY = 20
// From so many on they stand closer together, in two columns.
const DENSE = 9
const AT_ONCE = 40
const ADDED = { name: '', description: '', new: true }

export class CodeBoard {
  /** @param {App} app
   * @param {{toggled: () => void, leave: () => void, add: (name: string) => void}} told */
  constructor(app, told) {
    this._app = app
    this._told = told
    /** @type {Set<string>} */
    this.on = new Set()
    /** @type {Map<string, HTMLButtonElement>} */
    this._buttons = new Map()
    /** @type {string[]} */
    this._order = []
    /** @type {string[]} */
    this._visible = []
    this._field = findField({
      input: () => this._filter(),
      keydown: (event) => this._typed(event),
    })
    this._count = element('p', { class: 'sr-only', role: 'status' })
    this._cap = element('kbd', { 'aria-hidden': 'true' })
    this._finder = element('div', { class: 'finder' }, this._field, this._cap, this._count)
    this._grid = element('div', { class: 'codes', role: 'group', 'aria-label': 'Codes' })
    this._none = element('p', { class: 'codes-none' })
    this._add = button('', () => told.add(''), 'quiet add-code')
    const parts = [this._finder, this._grid, this._none, this._add]
    this.root = element('div', { class: 'board' }, ...parts)
    this.rebuild()
  }

  /** The codes of the study have changed. */
  rebuild() {
    this._buttons.clear()
    for (const code of this._app.study.codes) this._addButton(code)
    this.root.classList.toggle('dense', this._app.study.codes.length >= DENSE)
  }

  toTop() {
    if (this._grid.scrollTop) this._grid.scrollTop = 0
  }

  /** Show the codes for an answer, some of them on.
   * @param {readonly string[]} first the codes in the order in which they come; others follow
   * @param {readonly string[]} on */
  show(first, on) {
    const known = this._app.study.codes.map(({ code }) => code)
    // One that another tab has added can be switched off here too.
    for (const code of on) this._buttons.get(code) ?? this._addButton({ code, ...ADDED })
    const likely = first.filter((code) => this._buttons.has(code))
    this._order = [...new Set([...likely, ...known, ...on])]
    this._field.value = ''
    this._finder.hidden = known.length < MANY
    this.set(on)
    this._filter()
  }

  /** @param {Iterable<string>} on */
  set(on) {
    this.on = new Set(on)
    for (const [code, button] of this._buttons) {
      const isOn = String(this.on.has(code))
      if (button.getAttribute('aria-pressed') !== isOn) button.setAttribute('aria-pressed', isOn)
    }
  }

  /** The codes that are on, in the order of the codebook. */
  get chosen() {
    const known = this._app.study.codes.map(({ code }) => code)
    return [
      ...known.filter((code) => this.on.has(code)),
      ...[...this.on].filter((code) => !known.includes(code)),
    ]
  }

  /** @param {number} place on screen */
  toggleAt(place) {
    const code = this._visible[place]
    if (code !== undefined) this.toggle(code)
  }

  /** @param {string} code */
  toggle(code) {
    const isOn = !this.on.delete(code)
    if (isOn) this.on.add(code)
    this._buttons.get(code)?.setAttribute('aria-pressed', String(isOn))
    this._buttons.get(code)?.scrollIntoView({ block: 'nearest' })
    this._app.announce(`${code} ${isOn ? 'on' : 'off'}`)
    this._told.toggled()
  }

  /** Go to the field that finds codes. */
  find() {
    this._finder.hidden = false
    this._field.focus()
    this._field.select()
  }

  /** Draw the keys anew. */
  drawKeys() {
    const typed = this._field.value.trim() !== ''
    this._visible.forEach((code, place) => {
      const cap = this._buttons.get(code)?.firstElementChild
      const label = typed ? (place ? '' : 'Enter') : this._app.keys.codeLabel(place)
      if (!cap) return
      if (cap.textContent !== label) cap.textContent = label
      cap.classList.toggle('no-key', !label)
    })
    put(this._add, 'New code', keyCap(this._app.keys.label('add')))
    this._cap.textContent = this._app.keys.label('filter')
    this._cap.hidden = !this._cap.textContent
  }

  /** @param {Code} code */
  _addButton({ code, name, description, new: isNew }) {
    const on = { click: () => this.toggle(code) }
    const made = element('button',
      { class: 'code', 'aria-pressed': 'false', title: description || null, on },
      element('kbd', { 'aria-hidden': 'true' }),
      element('span', { class: 'code-name', dir: 'auto' },
        name && name !== code ? `${code} ${name}` : code,
      ),
      isNew && element('span', { class: 'code-new' }, 'new'),
      element('span', { class: 'code-mark', 'aria-hidden': 'true' }, '✓'),
    )
    this._buttons.set(code, made)
  }

  _filter() {
    const typed = plain(this._field.value)
    const about = new Map(this._app.study.codes.map((code) => [code.code, code]))
    const hits = this._order.filter((code) => isHit(about.get(code), typed))
    this._visible = typed ? byStart(hits, typed) : hits
    this._arrange()
    this._grid.querySelector('.first-hit')?.classList.remove('first-hit')
    if (typed) this._grid.firstElementChild?.classList.add('first-hit')
    this.drawKeys()
    this._none.hidden = hits.length > 0
    this._count.textContent = typed ? `${hits.length} codes` : ''
    if (!hits.length) this._offer(this._field.value.trim())
  }

  /** Put the buttons in order: those with keys at once, hundreds of others after the next frame. */
  _arrange() {
    const buttons = this._visible.flatMap((code) => this._buttons.get(code) ?? [])
    const { children } = this._grid
    if (buttons.length === children.length && buttons.every((b, i) => b === children[i])) return
    put(this._grid, ...buttons.slice(0, AT_ONCE))
    const first = this._visible
    if (buttons.length <= AT_ONCE) return
    requestAnimationFrame(() =>
      setTimeout(() => first === this._visible && this._grid.append(...buttons.slice(AT_ONCE))),
    )
  }

  /** @param {string} typed */
  _offer(typed) {
    const add = button(`Add “${typed}” as a new code`, () => this._told.add(typed))
    put(this._none, element('span', {}, 'No code has this in its name. '), typed && add)
  }

  /** @param {KeyboardEvent} event */
  _typed(event) {
    if (isComposing(event)) return
    if (event.key === 'Enter') {
      event.preventDefault()
      if (event.repeat) return
      if (this._field.value && this._visible.length) this.toggle(this._visible[0])
      else if (this._field.value.trim()) return this._told.add(this._field.value.trim())
      this._leave()
    } else if (event.key === 'Escape') {
      event.preventDefault()
      this._leave()
    } else if (event.key === 'ArrowDown') {
      event.preventDefault()
      this._buttons.get(this._visible[0])?.focus()
    }
  }

  _leave() {
    this._field.value = ''
    this._filter()
    this._finder.hidden = this._app.study.codes.length < MANY
    this._told.leave()
  }
}

/** Text for comparisons: without case and accents.
 * @param {string} text */
function plain(text) {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().trim()
}

/** @param {Code | undefined} code
 * @param {string} typed */
function isHit(code, typed) {
  if (!code) return !typed
  return !typed || plain(`${code.code} ${code.name} ${code.description}`).includes(typed)
}

/** Those that begin with what is typed come first, then those with it in their name.
 * @param {string[]} codes
 * @param {string} typed */
function byStart(codes, typed) {
  const at = new Map(codes.map((code) => [code, Math.sign(plain(code).indexOf(typed))]))
  return [0, 1, -1].flatMap((rank) => codes.filter((code) => at.get(code) === rank))
}
