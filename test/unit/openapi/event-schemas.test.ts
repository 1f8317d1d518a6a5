import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildEvent, type EventData, type EventType } from '../../../functions/events/events.ts';
import { documentText } from '../../../lib/openapi/command.ts';
import { breakingChanges } from '../../../lib/openapi/compatibility.ts';
import { currentEventSchemas, definitionName, eventSchemasText } from '../../../lib/openapi/event-schemas.ts';
import { eventExample } from '../../../lib/openapi/events.ts';
import type { OpenApiDocument, Schema } from '../../../lib/openapi/openapi.ts';
import { aTenant } from '../../builders.ts';
import { lastRelease } from '../../compatibility/last-release.ts';
import {
  committedEventSchemas,
  compileEventSchema,
  eventViolations,
  readEventSchema,
} from '../../support/event-schemas.ts';
import { texts, times } from '../aws/arbitraries.ts';

const current = currentEventSchemas();

describe('the schemas of events', () => {
  it('are the committed file: npm run generate -- schemas', () => {
    expect(committedEventSchemas).toBe(eventSchemasText());
  });

  it('keep the definitions of earlier versions', () => {
    const [first] = current;
    if (first === undefined) throw new Error('there are event types');
    const second = { ...first, version: 2 };
    const { $defs } = JSON.parse(eventSchemasText([second]));
    const earlier = definitionName(first.type, 1);
    expect(Object.keys($defs)).toEqual([earlier, definitionName(first.type, 2)]);
    expect($defs[earlier]).toEqual(readEventSchema(earlier));
    expect(() => eventSchemasText([{ ...second, version: 3 }])).toThrow('has lost');
  });
});

describe.each(current.map((entry) => [entry.type, entry] as const))(
  'the schema of %s',
  (type, { version }) => {
    const schema = readEventSchema(definitionName(type, version));
    const validate = compileEventSchema(definitionName(type, version));
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
  /** Changes of the released events when they are what the definitions say. */
  const changes = (read: (definition: string) => Record<string, unknown>) => {
    const changed = structuredClone(released);
    for (const type of Object.keys(changed.webhooks)) {
      const schema = payload(changed, type);
      const { title, ...kept } = read(definitionName(type, Number(schema.properties?.schemaVersion?.const)));
      for (const key of Object.keys(schema)) delete schema[key as keyof Schema];
      Object.assign(schema, kept);
    }
    return breakingChanges(released, changed);
  };

  it('stays as it is: a changed body has a new schemaVersion and a new definition', () => {
    expect(Object.keys(released.webhooks).length).toBeGreaterThan(0);
    expect(changes(readEventSchema)).toEqual([]);
  });
});
