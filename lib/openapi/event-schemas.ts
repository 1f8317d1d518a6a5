import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EVENT_CATALOGUE, type EventType } from '../../functions/events/events.ts';
import { currentDocument } from './current.ts';
import { eventExample } from './events.ts';
import { jsonText } from './json-text.ts';
import type { Schema } from './openapi.ts';
import { EVENT_TYPES, eventSchemaName } from './schemas.ts';

/** Where the files are, from the root of the project. */
export const EVENT_SCHEMAS = 'docs/schemas';

const DRAFT = 'https://json-schema.org/draft/2020-12/schema';
/** A name and no URL, because the service has no host of its own. */
const ID_PREFIX = 'urn:conversation-service:';

/** A JSON Schema as a file of its own. */
interface SchemaFile extends Schema {
  $schema: string;
  $id: string;
  /** Code generators name their type by it. */
  title: string;
  $defs?: Record<string, Schema>;
}

/** One version of an event's body. */
export interface EventSchema {
  type: EventType;
  version: number;
  schema: SchemaFile;
}

export const eventSchemaFile = (type: string, version: number): string => `${type}.v${version}.json`;

/** The union of all event types and versions. */
export const UNION_FILE = 'event.json';

/** The schemas of the versions that are sent now. Without references, each file is enough by itself. */
export function currentEventSchemas(): EventSchema[] {
  const { schemas } = currentDocument().components;
  return EVENT_TYPES.map((type) => {
    const { schemaVersion: version, description } = EVENT_CATALOGUE[type];
    const schema: SchemaFile = {
      $schema: DRAFT,
      $id: `${ID_PREFIX}${type}:v${version}`,
      title: eventSchemaName(type),
      description,
      ...schemas[eventSchemaName(type)],
      examples: [eventExample(type).body],
    };
    return { type, version, schema };
  });
}

const readCommitted = (file: string): string =>
  readFileSync(join(import.meta.dirname, '../..', EVENT_SCHEMAS, file), 'utf8');

/**
 * The texts of all files by their names: one for each version of each event type, and the union. Events of
 * the log keep their version, so the files of earlier versions stay as they are.
 * @param read returns the text of the file of an earlier version
 * @throws when the file of an earlier version is missing
 */
export function eventSchemaFiles(
  current: readonly EventSchema[] = currentEventSchemas(),
  read: (file: string) => string = readCommitted,
): Record<string, string> {
  const all = current.flatMap(({ type, version, schema }) => [
    ...Array.from({ length: version - 1 }, (_, index): [string, SchemaFile] => {
      const file = eventSchemaFile(type, index + 1);
      return [file, JSON.parse(read(file))];
    }),
    [eventSchemaFile(type, version), schema] as [string, SchemaFile],
  ]);
  return Object.fromEntries(
    [...all, [UNION_FILE, unionOf(all)] as const].map(([file, schema]) => [file, jsonText(schema)]),
  );
}

/** Includes the schemas instead of referring to their files, which validators would have to be given too. */
function unionOf(all: readonly [file: string, schema: SchemaFile][]): SchemaFile {
  const definitions = all.map(([file, { $schema, $id, ...schema }]): [string, Schema] => [
    file.replace(/\.json$/, ''),
    schema,
  ]);
  return {
    $schema: DRAFT,
    $id: `${ID_PREFIX}event`,
    title: 'Event',
    description:
      'The body of any delivery. Types are added without notice: validate only the types that you process.',
    oneOf: definitions.map(([name]) => ({ $ref: `#/$defs/${name}` })),
    $defs: Object.fromEntries(definitions),
  };
}
