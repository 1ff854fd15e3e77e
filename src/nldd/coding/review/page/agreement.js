// How far coders agree: in words, and code by code.

import { count, element, line, percent, table } from './elements.js'
/** @import { Agreement, Alpha } from './shapes.js' */

/** Agreement in words, and code by code; without a second coder, how to get one.
 * @param {Agreement | null} agreement
 * @param {boolean} isOpen whether the codes are shown at once
 * @returns {Node[]} */
export function agreementParts(agreement, isOpen) {
  const title = element('h3', {}, 'How far coders agree')
  if (!agreement || !agreement.n_answers) {
    const how =
      'Agreement can be told once two people have coded the same answers. The second one opens ' +
      'the same review with a name of their own (--coder NAME), or codes a copy, and nldd ' +
      'review merge joins both.'
    return [title, line(how)]
  }
  const { coders, n_answers, n_same, masi, nominal } = agreement
  const share = percent(n_same / n_answers)
  const same =
    `${listText(coders)} coded ${count(n_answers)} answers in common, ` +
    `and gave ${count(n_same)} of them (${share}) exactly the same codes.`
  return [
    title,
    line(same),
    line(
      `Krippendorff's alpha is ${alphaText(masi)} where sets of codes may agree in part ` +
        `(MASI), and ${alphaText(nominal)} where they are the same or not. ` +
        `${alphaMeaning(masi.value)}`,
    ),
    element('details', { open: isOpen },
      element('summary', {}, 'Agreement code by code'),
      codeTable(agreement),
    ),
  ]
}

/** @param {Agreement} agreement */
function codeTable({ coders, codes }) {
  // A code of which kappa cannot be told comes last.
  const sorted = [...codes].sort((a, b) => (a.kappa ?? 2) - (b.kappa ?? 2))
  const heads = ['Code', ...coders, 'Same', 'Kappa']
  const rows = sorted.map(({ code, counts, agreement, kappa }) =>
    element('tr', {},
      element('th', { scope: 'row', dir: 'auto' }, code),
      ...counts.map((n) => element('td', { class: 'number' }, count(n))),
      element('td', { class: 'number' }, percent(agreement)),
      element('td', { class: 'number' }, kappa === null ? '–' : fixed(kappa)),
    ),
  )
  const caption = element('caption', {},
    'The worst first. Kappa is 1 if coders always agree, and 0 if no more than by chance.',
  )
  return element('div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Agreement code by code' },
    table('kappa-table', caption, heads, rows),
  )
}

/** @param {Alpha} alpha */
function alphaText({ value, low, high }) {
  if (value === null) return 'not known yet'
  const interval =
    low === null || high === null ? '' : ` (95 % interval ${fixed(low)} to ${fixed(high)})`
  return `${fixed(value)}${interval}`
}

/** What an alpha is usually taken to mean (Krippendorff's own limits).
 * @param {number | null} value */
function alphaMeaning(value) {
  if (value === null) return ''
  if (value >= 0.8) return 'From 0.8 on, codes are usually taken as reliable.'
  if (value >= 0.667) return 'Between 0.667 and 0.8, conclusions are usually called tentative.'
  return (
    'Below 0.667, codes are usually not relied on: talk about the codes at the top of the ' +
    'table first.'
  )
}

/** @param {number} value */
const fixed = (value) => value.toFixed(2).replace('-', '−')

/** @param {string[]} names */
const listText = (names) =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
