import type { FieldSchema } from './catalogue.ts';

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
