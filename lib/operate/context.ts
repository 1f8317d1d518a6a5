import type { Table } from '../../functions/store/table.ts';
import type { Paint } from '../cli/terminal/paint.ts';
import type { Clients } from './clients.ts';
import { NotConfirmed, OperateError } from './errors.ts';
import type { Flags } from './flags.ts';
import type { Resources } from './outputs.ts';
import type { Place } from './place.ts';

/** What a command works with. */
export interface Context {
  place: Place;
  clients: Clients;
  flags: Flags;
  paint: Paint;
  /** Shows how far it is, in place of what was shown before. */
  progress(text: string): void;
  now: () => Date;
}

/** What a command has to say: to people, and to programs (`--json`). */
export interface Report {
  text: string;
  data: unknown;
  /** An operator has to act: the exit code of `--check` is 1 then. */
  attention?: boolean;
}

/** @throws OperateError when the deployment does not say where it is */
export function resource(place: Place, kind: keyof Resources, name: string): string {
  const found = place[kind].get(name);
  if (found !== undefined) return found;
  const known = [...place[kind].keys()];
  throw new OperateError(
    known.length === 0
      ? `The outputs of ${place.name} name no ${LABELS[kind]} at all: deploy the present version first.`
      : `There is no ${LABELS[kind]} ${name}. There are: ${known.join(', ')}.`,
  );
}
const LABELS: Record<keyof Resources, string> = {
  tables: 'table',
  queues: 'queue',
  deadLetters: 'queue of dead letters',
  keys: 'keyring',
};

/**
 * A table as the stores of the service need it. What of it cannot be read is said beside the answer, and
 * nothing else is missing.
 */
export const tableOf = ({ place, clients }: Pick<Context, 'place' | 'clients'>, name: string): Table => ({
  client: clients.dynamodb,
  name: resource(place, 'tables', name),
  reportUnreadable: ({ pk, sk }) =>
    process.stderr.write(`  The row ${pk} ${sk} of the table ${name} cannot be read and is left out.\n`),
});

/**
 * Whether the command is to be carried out, or only to be shown.
 * @throws NotConfirmed when neither `--yes` nor `--dry-run` was given
 */
export function confirmed({ flags, place }: Context, what: string): boolean {
  if (flags.yes && !flags.dryRun) return true;
  if (flags.dryRun) return false;
  throw new NotConfirmed(
    `${what} (${place.name}). Nothing was done: repeat with --yes, or with --dry-run to see more.`,
  );
}
