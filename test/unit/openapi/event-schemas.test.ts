import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildEvent, type EventData, type EventType } from '../../../functions/events/events.ts';
import { documentText } from '../../../lib/openapi/command.ts';
import { breakingChanges } from '../../../lib/openapi/compatibility.ts';
import {
  currentEventSchemas,
  eventSchemaFile,
  eventSchemaFiles,
  UNION_FILE,
} from '../../../lib/openapi/event-schemas.ts';
import { eventExample } from '../../../lib/openapi/events.ts';
import type { OpenApiDocument, Schema } from '../../../lib/openapi/openapi.ts';
import { aTenant } from '../../builders.ts';
import { lastRelease } from '../../compatibility/last-release.ts';
import {
  compileSchema,
  EVENT_SCHEMAS,
  eventViolations,
  readEventSchema,
} from '../../support/event-schemas.ts';
import { texts, times } from '../aws/arbitraries.ts';

const current = currentEventSchemas();
const files = eventSchemaFiles();

describe('the schemas of events', () => {
  it('are the committed files: npm run generate -- schemas', () => {
    const committed = readdirSync(EVENT_SCHEMAS).map((file) => [
      file,
      readFileSync(join(EVENT_SCHEMAS, file), 'utf8'),
    ]);
    expect(Object.fromEntries(committed)).toEqual(files);
  });

  it('have names of their own, and compile in strict mode', () => {
    const schemas = Object.values(files).map((text) => JSON.parse(text));
    for (const schema of schemas) expect(() => compileSchema(schema)).not.toThrow();
    expect(new Set(schemas.map(({ $id }) => $id)).size).toBe(schemas.length);
  });

  it('keep the files of earlier versions, in the union too', () => {
    const [first] = current;
    if (first === undefined) throw new Error('there are event types');
    const earlier = files[eventSchemaFile(first.type, 1)] ?? '';
    const second = { ...first, version: 2, schema: { ...first.schema, $id: 'urn:second' } };
    const both = eventSchemaFiles([second], () => earlier);
    expect(both[eventSchemaFile(first.type, 1)]).toBe(earlier);
    expect(Object.keys(JSON.parse(both[UNION_FILE] ?? '').$defs)).toEqual([
      `${first.type}.v1`,
      `${first.type}.v2`,
    ]);
    expect(() => eventSchemaFiles([second])).not.toThrow();
    expect(() => eventSchemaFiles([{ ...second, version: 3 }])).toThrow('ENOENT');
  });
});

describe.each(current.map((entry) => [entry.type, entry] as const))(
  'the schema of %s',
  (type, { version }) => {
    const schema = readEventSchema(eventSchemaFile(type, version));
    const validate = compileSchema(schema);
    const { body } = eventExample(type);
    const isValid = (changed: object): boolean => {
      const valid = validate(changed);
      expect(eventViolations(JSON.stringify(changed)).length === 0).toBe(valid);
      return valid;
    };

    it('accepts its example', () => {
      expect(schema.examples).toEqual([body]);
      expect(isValid(body)).toBe(true);
    });

    it('accepts any event that the service builds', () => {
      const free = freeTexts(schema as Schema);
      fc.assert(
        fc.property(texts, times, (text, now) => {
          const data = { ...body.data, ...Object.fromEntries(free.map((field) => [field, text])) };
          const event = buildEvent(type, data as EventData<EventType>, { tenant: aTenant(), now });
          expect(isValid(JSON.parse(event.body))).toBe(true);
        }),
        { numRuns: 20 },
      );
    });

    it('refuses a body with a missing or a wrong part', () => {
      for (const field of Object.keys(body)) {
        const { [field as keyof typeof body]: _, ...others } = body;
        expect(isValid(others), field).toBe(false);
        expect(isValid({ ...body, [field]: null }), field).toBe(false);
      }
      for (const field of requiredOf(schema as Schema))
        expect(isValid({ ...body, data: { ...body.data, [field]: undefined } }), field).toBe(false);
      for (const field of Object.keys(body.data))
        expect(isValid({ ...body, data: { ...body.data, [field]: 7 } }), field).toBe(false);
      expect(isValid({ ...body, type: 'ticket.made' })).toBe(false);
      expect(isValid({ ...body, schemaVersion: version + 1 })).toBe(false);
      expect(isValid({ ...body, createdAt: 'yesterday' })).toBe(false);
    });
  },
);

const dataOf = ({ properties }: Schema): Schema => properties?.data ?? {};
const requiredOf = (schema: Schema): string[] => dataOf(schema).required ?? [];
/** Fields of `data` that hold any text. */
const freeTexts = (schema: Schema): string[] =>
  Object.entries(dataOf(schema).properties ?? {})
    .filter(([, { pattern, enum: values }]) => pattern === undefined && values === undefined)
    .map(([field]) => field);

describe('a released schema', () => {
  const text = lastRelease()?.read('docs/openapi/v1.json') ?? documentText();
  // Events alone: comparing all operations takes much longer.
  const released: OpenApiDocument = { ...JSON.parse(text), paths: {} };
  const payload = (document: OpenApiDocument, type: string): Schema => {
    const { $ref = '' } =
      document.webhooks[type]?.post?.requestBody?.content['application/json']?.schema ?? {};
    return document.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {};
  };
  /** Changes of the released events when they are what the files say. */
  const changes = (read: (file: string) => Record<string, unknown>) => {
    const changed = structuredClone(released);
    for (const type of Object.keys(changed.webhooks)) {
      const schema = payload(changed, type);
      const { $schema, $id, title, ...kept } = read(
        eventSchemaFile(type, Number(schema.properties?.schemaVersion?.const)),
      );
      for (const key of Object.keys(schema)) delete schema[key as keyof Schema];
      Object.assign(schema, kept);
    }
    return breakingChanges(released, changed);
  };

  it('stays as it is: a changed body has a new schemaVersion and a new file', () => {
    expect(Object.keys(released.webhooks).length).toBeGreaterThan(0);
    expect(changes(readEventSchema)).toEqual([]);
  });

  it('cannot lose a field, gain one, or require another without a report', () => {
    const spoil = (change: (data: Schema) => void) => (file: string) => {
      const schema = readEventSchema(file);
      if (file.startsWith('ticket.created')) change(dataOf(schema as Schema));
      return schema;
    };
    for (const change of [
      (data: Schema) => delete data.properties?.reason,
      (data: Schema) => Object.assign(data.properties ?? {}, { more: { type: 'string' } }),
      (data: Schema) => data.required?.push('reason'),
      (data: Schema) => Object.assign(data.properties?.ticketId ?? {}, { pattern: '^tic_' }),
    ])
      expect(changes(spoil(change))).toEqual([expect.stringContaining('ticket.created')]);
  });
});
