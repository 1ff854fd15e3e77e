// What is shown when no answer is left, and what to do then.

import { element } from './elements.js'

/** @typedef {import('./app.js').App} App */

const KINDS = /** @type {const} */ ([
  ['csv', 'CSV'],
  ['xlsx', 'Excel'],
  ['jsonl', 'JSON Lines'],
])

/**
 * @param {App} app
 * @param {() => void} resume
 */
export function finished(app, resume) {
  const { queue } = app
  if (queue.isOffline)
    return waiting(
      'No more answers are loaded. They come when the server can be reached again; what you decided is kept.',
    )
  if (queue.isWaiting) return waiting('Loading the next answers.')
  const { progress, audit, machine } = app.status
  const share = Math.round(100 * machine.share)
  const parts = [
    element(
      'h2',
      { tabindex: '-1' },
      progress.n_queue ? 'All answers for people are decided' : 'There is no answer for people',
    ),
    element(
      'p',
      {},
      `People decided ${count(machine.n_people)}, the machine codes ${count(machine.n_auto)} (${share} %).`,
    ),
    audit && element('p', {}, audit.text),
  ]
  if (progress.n_skipped)
    parts[0] = element(
      'h2',
      { tabindex: '-1' },
      `${count(progress.n_skipped)} skipped, all others are decided`,
    )
  const skipped = element(
    'button',
    { type: 'button', class: 'primary', on: { click: resume } },
    'Go through the skipped ones',
  )
  return element(
    'div',
    { class: 'card finished' },
    ...parts,
    progress.n_skipped > 0 && skipped,
    nextSteps(app),
  )
}

/** @param {App} app */
function nextSteps(app) {
  const { model, store, n_disagree } = { ...app.study, ...app.status.progress }
  const links = KINDS.map(([kind, name]) =>
    element('a', { class: 'button', href: `/api/export?kind=${kind}`, download: true }, name),
  )
  return element(
    'div',
    { class: 'next-steps' },
    n_disagree > 0 &&
      element(
        'p',
        {},
        element('a', { href: '#/settle' }, `Settle ${count(n_disagree)} on which coders disagree`),
      ),
    element('h3', {}, 'The coded table'),
    element('div', { class: 'dialog-buttons' }, ...links),
    element('h3', {}, 'Let the model learn from what you decided'),
    element('pre', { tabindex: '0' }, element('code', {}, `nldd update ${model} ${store}`)),
  )
}

/** @param {string} text */
function waiting(text) {
  return element('div', { class: 'card finished' }, element('p', { role: 'status' }, text))
}

/** @param {number} n */
function count(n) {
  return `${n.toLocaleString('en')} ${n === 1 ? 'answer' : 'answers'}`
}
