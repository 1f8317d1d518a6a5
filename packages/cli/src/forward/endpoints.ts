import { UserError } from 'terminal/errors.ts';
import type { Since } from '../since.ts';
import { BEGINNING, type Position, positionAt } from './position.ts';
import type { SandboxEndpoint } from './sandbox-api.ts';
import type { State } from './state-file.ts';

/** Allowed clock skew between parts of the service. */
const CLOCKS_MS = 10_000;

/**
 * Position from which to forward an endpoint: the saved one; the first delivery of an endpoint created since
 * the last poll; else `since`.
 * @param at time of the poll by the service's clock
 */
export function startOf(endpoint: SandboxEndpoint, state: State, since: Since, at: number): Position {
  const saved = state.positions.get(endpoint.id);
  if (saved !== undefined) return saved;
  const { lookedAt } = state;
  const isNew = lookedAt !== undefined && Date.parse(endpoint.createdAt) >= lookedAt - CLOCKS_MS;
  return isNew || since.kind === 'all' ? BEGINNING : positionAt(at - since.milliseconds);
}

/**
 * Selects the endpoints to follow.
 * @param wanted empty for all
 * @throws UserError naming one that the sandbox does not have
 */
export function chosen(
  endpoints: readonly SandboxEndpoint[],
  wanted: readonly string[],
): readonly SandboxEndpoint[] {
  if (wanted.length === 0) return endpoints;
  const missing = wanted.find((id) => !endpoints.some((endpoint) => endpoint.id === id));
  if (missing === undefined) return endpoints.filter(({ id }) => wanted.includes(id));
  const others =
    endpoints.length === 0 ? 'it has none' : `it has ${endpoints.map(({ id }) => id).join(', ')}`;
  throw new UserError(`The sandbox has no endpoint ${missing}: ${others}.`);
}
