import eventTypes from '../../../../docs/openapi/event-types.json';
import schemas from '../../../../docs/schemas/event.json';
import type { Endpoint } from '../../api/webhooks.ts';

export type CataloguedType = keyof typeof eventTypes;
type Definitions = typeof schemas.$defs;
type DefinitionOf<Type extends CataloguedType> = Definitions[keyof Definitions & `${Type}.v${number}`];

/** Of JSON Schema, what the events use. */
interface FieldSchema {
  type?: string;
  description?: string;
  const?: unknown;
  enum?: readonly unknown[];
  format?: string;
  pattern?: string;
  properties?: Readonly<Record<string, FieldSchema>>;
  required?: readonly string[];
}

interface EventEntry {
  sentTo: string;
  description: string;
  schema: FieldSchema;
  example: object;
}

export const CATALOGUED_TYPES = Object.keys(eventTypes) as CataloguedType[];

/** The present version of each type: schema, description in English, example. */
export const ENTRIES = Object.fromEntries(CATALOGUED_TYPES.map((type) => [type, entryOf(type)])) as Readonly<
  Record<CataloguedType, EventEntry>
>;

function entryOf(type: CataloguedType): EventEntry {
  // The versions of a type follow each other.
  const schema = Object.values(schemas.$defs).findLast(({ properties }) => properties.type.const === type);
  if (schema === undefined) throw new Error(`No schema of ${type}.`);
  const [example = {}] = schema.examples;
  return { sentTo: eventTypes[type].sentTo, description: schema.description, schema, example };
}

/** Path of a type's page. Without dots, as a path with one is that of a file. */
export const pathOfType = (type: CataloguedType): string => `/event-types/${slugOf(type)}`;

const slugOf = (type: CataloguedType): string => type.replaceAll('.', '-');

/** The type that a path names. */
export const typeNamed = (slug: string): CataloguedType | undefined =>
  CATALOGUED_TYPES.find((type) => slugOf(type) === slug);

/** Names of the fields of a type's `data`. */
type DataField<Type extends CataloguedType> = keyof DefinitionOf<Type>['properties']['data']['properties'];

/** Descriptions in another language: of every type and field, so that a new one without does not compile. */
export interface EventTexts {
  envelope: Record<keyof DefinitionOf<'conversation.created'>['properties'], string>;
  types: { [Type in CataloguedType]: { description: string; data: Record<DataField<Type>, string> } };
}

/** Endpoints that receive events of a type, disabled ones included. */
export const subscribersOf = <One extends Pick<Endpoint, 'events'>>(
  type: string,
  endpoints: readonly One[],
): One[] => endpoints.filter(({ events }) => events.some((each) => each === type));

/** Endpoints that an example, or a test, can be sent to. */
export function targetsOf<One extends Pick<Endpoint, 'events' | 'status'>>(
  type: string,
  endpoints: readonly One[],
): One[] {
  const active = endpoints.filter(({ status }) => status === 'active');
  return type === 'webhook.test' ? active : subscribersOf(type, active);
}

/** A field of a payload, as a row of a table. */
export interface FieldRow {
  name: string;
  /** Names of the objects that the field is in, from the outside. */
  path: readonly string[];
  type: string;
  /** The values that it can have; undefined where any of its type is possible. */
  values: readonly string[] | undefined;
  /** Prefix of an identifier, such as `cnv_`. */
  prefix: string | undefined;
  isRequired: boolean;
  description: string | undefined;
}

/** All fields of a schema, each object's below it. */
export function fieldsOf(schema: FieldSchema, path: readonly string[] = []): FieldRow[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    rowOf(name, field, path, schema.required?.includes(name) ?? false),
    ...fieldsOf(field, [...path, name]),
  ]);
}

function rowOf(name: string, field: FieldSchema, path: readonly string[], isRequired: boolean): FieldRow {
  const values = field.const === undefined ? field.enum : [field.const];
  return {
    name,
    path,
    type: field.format ?? field.type ?? typeof field.const,
    values: values?.map((value) => JSON.stringify(value)),
    prefix: /^\^([a-z]+_)/.exec(field.pattern ?? '')?.[1],
    isRequired,
    description: field.description,
  };
}
