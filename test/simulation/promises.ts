/**
 * What must hold whatever goes wrong (architecture.md, Promises; decisions.md, Deliveries), by a short name
 * each.
 */
export const PROMISES = {
  'right deliveries':
    'an event has one delivery for each endpoint that was subscribed to it, and for no other',
  'one end': 'a delivery ends once, and never changes afterwards',
  'eight attempts': 'at most 8 attempts of a delivery are started, each under a number of its own',
  'one holder': 'no two workers hold a delivery at the same time',
  lease:
    'an attempt is recorded only under the lease that it was started under, and nothing else ends a leased delivery',
  record: 'what a delivery says about its attempts and its end is what happened',
  'nothing lost': 'an open delivery is always known to something that will bring it back',
  'not before its time': 'no attempt is started before it is due',
  'nothing after the end of an endpoint':
    'no attempt is started for an endpoint that was read as deleted or disabled',
  'exact count': 'ten failed deliveries in a row disable an endpoint, and its admins are told once',
  'true ledger': 'the ledger counts each delivery and its end once',
  'comes to rest': 'when nothing goes wrong any more everything ends, in time and without loops',
  'the sandbox is closed':
    'nothing of a sandbox reaches a receiver of the world, and nothing live a simulated one',
  'as programmed': 'a simulated receiver does what its endpoint says, and a real one what it wants',
  'wiped is over': 'what begins after a reset does nothing about the data that it has wiped',
  'wiped is gone':
    'a purge begins when nothing can come any more, and when it is closed nothing of its generation is left',
  'nothing else is wiped': 'only data that a reset has wiped is purged',
  'each reads the other': 'what one version of the code has stored is readable to the other',
  'nothing unknown is dropped': 'a write leaves alone what another version of the code has stored with a row',
  'no defect': 'no function fails by a defect of its own',
} as const;
export type PromiseName = keyof typeof PROMISES;

/** A promise that did not hold, and how that showed. */
export interface Violation {
  promise: PromiseName;
  detail: string;
}

/**
 * The numbers of the specification, written down here once more so that a change of the service's own shows.
 */
export const ATTEMPTS = 8;
export const FAILURES_IN_A_ROW = 10;
export const EXPIRY_MS = 3 * 86_400_000;
