// The answers that a coder goes through: the one on screen, those before it, those that come next.

/** @typedef {import('./api.js').ItemView} ItemView */
/** @typedef {import('./api.js').Action} Action */
/** @typedef {import('./app.js').App} App */
/** @typedef {{uid: string, before: ItemView}} Act */

// So many answers are asked for at once, whenever fewer than half of them are left.
const AHEAD = 50

export class Queue {
  /** @param {App} app */
  constructor(app) {
    this._app = app
    /** @type {ItemView | null} */
    this.current = null
    /** @type {ItemView[]} */
    this.upcoming = []
    /** @type {Map<number, ItemView>} */
    this._known = new Map()
    /** @type {number[]} */
    this._trail = []
    this._place = -1
    /** @type {Act[]} */
    this._acts = []
    this._generation = 0
    this.isFetching = false
    this.isOffline = false
    this.withSkipped = false
    /** @type {() => void} */
    this.onArrival = () => {}
  }

  /** Ask for the answers ahead anew, because the machine has learned; the current one stays. */
  renew() {
    this._generation += 1
    this.isFetching = false
    void this.fill(true)
  }

  /** The order has changed: what comes next begins at its beginning. */
  restart() {
    this._startOver = true
    this.renew()
  }

  /** @param {boolean} [anew] */
  async fill(anew = false) {
    void AHEAD
  }
}
