import { type OpenApiDocument, SCHEMAS, type Schema } from '../openapi.ts';
import { html, type Markup } from './markup.ts';

/** Renders schemas, and knows which named ones they refer to. */
export interface SchemaView {
  /** Fields of an object as a table; undefined for what has no fields. */
  fields(schema: Schema): Markup | undefined;
  /** The type in words, with links to named objects. */
  type(schema: Schema): Markup;
  /** Follows a reference. */
  resolve(schema: Schema): Schema;
  /** Names of the objects that were linked so far. */
  linked: ReadonlySet<string>;
}

/** @param markdown renders descriptions */
export function schemaView({ components }: OpenApiDocument, markdown: (text: string) => Markup): SchemaView {
  const linked = new Set<string>();
  const resolve = (schema: Schema): Schema =>
    schema.$ref === undefined
      ? schema
      : { ...components.schemas[nameOf(schema.$ref)], ...without$ref(schema) };

  function type(schema: Schema): Markup {
    if (schema.$ref !== undefined) {
      const name = nameOf(schema.$ref);
      const target = components.schemas[name];
      if (target !== undefined && !isObject(target)) return type(target);
      linked.add(name);
      return html`<a href="#${schemaId(name)}">${name}</a>`;
    }
    const options = schema.oneOf ?? schema.anyOf;
    if (options !== undefined) return joined(options.map(type), ' or ');
    if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`;
    if (schema.enum !== undefined)
      return joined(
        schema.enum.map((value) => html`<code>${JSON.stringify(value)}</code>`),
        ', ',
      );
    if (schema.items !== undefined) return html`list of ${type(schema.items)}`;
    return html`${typeName(schema)}${limits(schema)}`;
  }

  function rows(schema: Schema, path: string): Markup[] {
    return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
      html`<tr><th scope="row"><code>${path === '' ? undefined : html`<span class="quiet">${path}</span>`}${name}</code>${
        schema.required?.includes(name) ? undefined : html` <span class="quiet">optional</span>`
      }</th><td>${type(field)}</td><td>${markdown(descriptionOf(field))}</td></tr>`,
      // Objects without a name have no place of their own.
      ...(field.$ref === undefined ? rows(field, `${path}${name}.`) : []),
    ]);
  }

  const descriptionOf = (field: Schema): string => {
    const fallback = field.default === undefined ? '' : ` Default: \`${JSON.stringify(field.default)}\`.`;
    return `${field.description ?? resolve(field).description ?? ''}${fallback}`;
  };

  return {
    linked,
    resolve,
    type,
    fields(schema) {
      const body = rows(resolve(schema), '');
      return body.length === 0
        ? undefined
        : html`<div class="scroll" tabindex="0" role="group" aria-label="Fields"><table><thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Description</th></tr></thead><tbody>${body}</tbody></table></div>`;
    },
  };
}

export const schemaId = (name: string): string => `schema-${name}`;

const nameOf = (reference: string): string => reference.slice(SCHEMAS.length);
const without$ref = ({ $ref: _, ...rest }: Schema): Schema => rest;
const isObject = ({ properties, oneOf }: Schema): boolean => properties !== undefined || oneOf !== undefined;

const joined = (all: readonly Markup[], between: string): Markup =>
  html`${all.map((each, index) => (index === 0 ? each : html`${between}${each}`))}`;

function typeName({ type, format }: Schema): string {
  const names = typeof type === 'string' ? [type] : (type ?? ['any']);
  return names.map((name) => (name === 'string' && format !== undefined ? format : name)).join(' or ');
}

/** What of the values is limited, in words. */
function limits({ minimum, maximum, maxLength }: Schema): string {
  const range =
    minimum !== undefined && maximum !== undefined
      ? [`${number(minimum)} to ${number(maximum)}`]
      : [
          ...(minimum === undefined ? [] : [`at least ${number(minimum)}`]),
          ...(maximum === undefined ? [] : [`at most ${number(maximum)}`]),
        ];
  const all = [...range, ...(maxLength === undefined ? [] : [`at most ${number(maxLength)} characters`])];
  return all.length === 0 ? '' : `, ${all.join(', ')}`;
}

const number = (value: number): string => value.toLocaleString('en');
