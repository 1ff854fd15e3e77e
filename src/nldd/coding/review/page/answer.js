// The answer as it is read: its text, what is to be said of it, and the columns beside it.

import { codesText, count, element, put } from './elements.js'
/** @import { ItemView } from './shapes.js' */

// Answers up to this length are set larger.
const SHORT = 280

export class AnswerCard {
  /** @param {{back: () => void, forward: () => void}} moves */
  constructor(moves) {
    this._title = element('h2', { id: 'answer-title' })
    this._tags = element('p', { class: 'tags' })
    this._columns = element('dl', { class: 'columns' })
    this._text = element('div', {
      class: 'answer-text',
      role: 'region',
      tabindex: '0',
      'aria-label': 'Text of the answer',
      dir: 'auto',
    })
    /** Room for what the machine suggests. */
    this.suggestion = element('div', { class: 'suggestion' })
    const head = element('header', { class: 'answer-head' },
      this._title,
      this._tags,
      arrow('←', 'Answer before', moves.back),
      arrow('→', 'Next answer', moves.forward),
    )
    this.root = element('article', { class: 'card answer', 'aria-labelledby': 'answer-title' },
      head,
      this._columns,
      this._text,
      this.suggestion,
    )
  }

  toTop() {
    if (this._text.scrollTop) this._text.scrollTop = 0
  }

  /** @param {ItemView} view */
  show(view) {
    const isEmpty = !view.text.trim()
    this._title.textContent = `Answer ${count(view.item)}`
    this._text.textContent = isEmpty ? 'The answer is empty.' : view.text
    this._text.classList.toggle('is-empty', isEmpty)
    this._text.classList.toggle('is-short', view.text.length <= SHORT)
    this._columns.hidden = !view.show.length
    const columns = view.show.map(([name, cell]) =>
      element('div', {},
        element('dt', { dir: 'auto' }, name),
        element('dd', { dir: 'auto' }, cell || '–'),
      ),
    )
    put(this._columns, ...columns)
  }

  /** Say what has become of the answer.
   * @param {ItemView} view
   * @param {boolean} isUnsaved whether other codes are on than were saved */
  tag(view, isUnsaved) {
    put(this._tags, ...tagsOf(view, isUnsaved))
  }

}

/** @param {string} sign
 * @param {string} label
 * @param {() => void} act */
function arrow(sign, label, act) {
  const attributes = { class: 'quiet arrow', 'aria-label': label, title: label }
  return element('button', { ...attributes, on: { click: act } }, sign)
}

/** @param {ItemView} view
 * @param {boolean} isUnsaved */
function tagsOf(view, isUnsaved) {
  const said = []
  if (isUnsaved) said.push('changed, not saved')
  else if (view.state !== 'open') said.push(view.state === 'done' ? 'decided' : 'skipped')
  if (view.settled) said.push('settled')
  if (view.drawn) said.push('drawn at random')
  if (view.given) said.push('came with its codes')
  for (const { coder, codes } of view.others ?? []) said.push(`${coder}: ${codesText(codes)}`)
  const tags = said.map((text) => element('span', { class: 'tag', dir: 'auto' }, text))
  if (!view.flag) return tags
  const note = view.note ? `: ${view.note}` : ''
  return [...tags, element('span', { class: 'tag tag-flag', dir: 'auto' }, `⚑ flagged${note}`)]
}
