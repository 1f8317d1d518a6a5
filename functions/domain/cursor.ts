import type { Keyring } from './keyring.ts';
import { newSeal, opened, type Purpose, sealed } from './sealing.ts';

/** What a cursor is bound to: opened for another listing, it does not open at all. */
export interface CursorBinding {
  /** The effective organization and generation. */
  tenant: string;
  route: string;
  /** Path parameters and filters of the listing, in a fixed order. */
  filters: readonly string[];
}

/**
 * Seals the position of the last item of a page (public-api.md, Versioning 7). It shows nothing and cannot be altered or carried elsewhere.
 * @param position the identifier after which the next page begins
 */
export const sealCursor = (ring: Keyring, position: string, binding: CursorBinding): string =>
  sealed(ring, position, purposeOf(binding), newSeal(ring));

/** The position that a cursor holds, or undefined when it is not one of ours for this binding. */
export const openCursor = (ring: Keyring, cursor: string, binding: CursorBinding): string | undefined =>
  opened(ring, cursor, purposeOf(binding));

const purposeOf = (binding: CursorBinding): Purpose => ({
  label: 'pagination-cursor',
  bound: JSON.stringify([binding.tenant, binding.route, ...binding.filters]),
});
