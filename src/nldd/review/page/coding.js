// One answer at a time.

import { element, put } from './elements.js'

/** @type {import('./app.js').Mount} */
export function mount(root, app) {
  put(root, element('h2', {}, 'Answer'))
  return () => {}
}
