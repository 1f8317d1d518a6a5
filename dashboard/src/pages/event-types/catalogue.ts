import catalogue from '../../../../docs/openapi/event-catalogue.json';

/** The event types as their declaration has them: schema, description in English, example. */
type Catalogue = typeof catalogue;
export type CataloguedType = keyof Catalogue;

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

export const ENTRIES: Readonly<Record<CataloguedType, EventEntry>> = catalogue;
export const CATALOGUED_TYPES = Object.keys(catalogue) as CataloguedType[];

/** Path of a type's page. Without dots, as a path with one is that of a file. */
export const pathOfType = (type: CataloguedType): string => `/event-types/${slugOf(type)}`;

const slugOf = (type: CataloguedType): string => type.replaceAll('.', '-');

/** The type that a path names. */
export const typeNamed = (slug: string): CataloguedType | undefined =>
  CATALOGUED_TYPES.find((type) => slugOf(type) === slug);

/** Names of the fields of a type's `data`. */
type DataField<Type extends CataloguedType> =
  keyof Catalogue[Type]['schema']['properties']['data']['properties'];

/** Descriptions in another language: of every type and field, so that a new one without does not compile. */
export interface EventTexts {
  envelope: Record<keyof Catalogue['conversation.created']['schema']['properties'], string>;
  types: { [Type in CataloguedType]: { description: string; data: Record<DataField<Type>, string> } };
}
