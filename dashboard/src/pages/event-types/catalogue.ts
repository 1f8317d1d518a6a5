import eventTypes from '../../../../docs/openapi/event-types.json';
import schemas from '../../../../docs/schemas/event.json';

export type CataloguedType = keyof typeof eventTypes;
type Definitions = typeof schemas.$defs;
type DefinitionOf<Type extends CataloguedType> = Definitions[keyof Definitions & `${Type}.v${number}`];

/** Of JSON Schema, what the events use. */
export interface FieldSchema {
  type?: string;
  description?: string;
  const?: unknown;
  enum?: readonly unknown[];
  format?: string;
  pattern?: string;
  properties?: Readonly<Record<string, FieldSchema>>;
  required?: readonly string[];
}

export interface EventEntry {
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
