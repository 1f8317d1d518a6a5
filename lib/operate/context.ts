import type { Paint } from 'terminal/paint.ts';
import type { Table } from '../../functions/aws/table.ts';
import type { Clients } from './clients.ts';
import { NotConfirmed, OperateError } from './errors.ts';
import type { Flags } from './flags.ts';
import type { Resources } from './outputs.ts';
import type { Place } from './place.ts';

export interface Context {
  place: Place;
  clients: Clients;
  flags: Flags;
  paint: Paint;
  /** Replaces the progress text shown before. */
  progress(text: string): void;
  now: () => Date;
}

/** Result of a command as text, and as JSON (`--json`). */
export interface Report {
  text: string;
  data: unknown;
  /** An operator must act: `--check` exits with 1. */
  attention?: boolean;
}

/** @throws OperateError when the deployment lacks the resource */
export function resource(place: Place, kind: keyof Resources, name: string): string {
  const value = place[kind].get(name);
  if (value !== undefined) return value;
  const names = [...place[kind].keys()];
  throw new OperateError(
    names.length === 0
      ? `The outputs of ${place.name} name no ${LABELS[kind]} at all: deploy the present version first.`
      : `There is no ${LABELS[kind]} ${name}. There are: ${names.join(', ')}.`,
  );
}
const LABELS: Record<keyof Resources, string> = {
  tables: 'table',
  queues: 'queue',
  deadLetters: 'queue of dead letters',
  keys: 'keyring',
};

/** A table for the service's stores. Reports unreadable rows beside the result. */
export const tableOf = ({ place, clients }: Pick<Context, 'place' | 'clients'>, name: string): Table => ({
  client: clients.dynamodb,
  name: resource(place, 'tables', name),
  reportUnreadable: ({ pk, sk }) =>
    process.stderr.write(`  The row ${pk} ${sk} of the table ${name} cannot be read and is left out.\n`),
});

/**
 * Whether to run the command, or only to show its effect.
 * @throws NotConfirmed when neither `--yes` nor `--dry-run` was given
 */
export function confirmed({ flags, place }: Context, what: string): boolean {
  if (flags.yes && !flags.dryRun) return true;
  if (flags.dryRun) return false;
  throw new NotConfirmed(
    `${what} (${place.name}). Nothing was done: repeat with --yes, or with --dry-run to see more.`,
  );
}
