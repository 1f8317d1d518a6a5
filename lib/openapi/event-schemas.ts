import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EVENT_CATALOGUE, type EventType } from '../../functions/events/events.ts';
import { currentDocument } from './current.ts';
import { eventExample } from './events.ts';
import { jsonText } from './json-text.ts';
import type { Schema } from './openapi.ts';
import { EVENT_TYPES, eventSchemaName } from './schemas.ts';

/** Where the file is, from the root of the project. */
export const EVENT_SCHEMAS = 'docs/schemas/event.json';

const DRAFT = 'https://json-schema.org/draft/2020-12/schema';
/** A name and no URL, because the service has no host of its own. */
const ID = 'urn:conversation-service:event';

/** One version of an event's body. Without references, so that it can be copied out of the file. */
export interface EventSchema {
  type: EventType;
  version: number;
  schema: Schema & { title: string };
}

type Definitions = Record<string, Schema>;

export const definitionName = (type: string, version: number): string => `${type}.v${version}`;

/** The schemas of the versions that are sent now. */
export function currentEventSchemas(): EventSchema[] {
  const { schemas } = currentDocument().components;
  return EVENT_TYPES.map((type) => {
    const { schemaVersion: version, description } = EVENT_CATALOGUE[type];
    const schema = {
      title: eventSchemaName(type),
      description,
      ...schemas[eventSchemaName(type)],
      examples: [eventExample(type).body],
    };
    return { type, version, schema };
  });
}

const readCommitted = (): Definitions =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../..', EVENT_SCHEMAS), 'utf8')).$defs;

/**
 * The text of the file: a definition for each version of each event type, and their union. Events of the log
 * keep their version, so the definitions of earlier versions stay as they are.
 * @param earlier the committed definitions
 * @throws Error when that of an earlier version is missing
 */
export function eventSchemasText(
  current: readonly EventSchema[] = currentEventSchemas(),
  earlier: Definitions = readCommitted(),
): string {
  const definitions = current.flatMap(({ type, version, schema }) => [
    ...Array.from({ length: version - 1 }, (_, index): [string, Schema] => {
      const name = definitionName(type, index + 1);
      const kept = earlier[name];
      if (kept === undefined) throw new Error(`${EVENT_SCHEMAS} has lost ${name}.`);
      return [name, kept];
    }),
    [definitionName(type, version), schema] as [string, Schema],
  ]);
  return jsonText({
    $schema: DRAFT,
    $id: ID,
    title: 'Event',
    description:
      'The body of any delivery. Types are added without notice: validate only the types that you process.',
    oneOf: definitions.map(([name]) => ({ $ref: `#/$defs/${name}` })),
    $defs: Object.fromEntries(definitions),
  });
}
