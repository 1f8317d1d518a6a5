/*
 * The parts of OpenAPI 3.1 that our documents use (https://spec.openapis.org/oas/v3.1.1).
 */

export interface Ref {
  $ref: string;
}

/** Where references to named schemas lead. */
export const SCHEMAS = '#/components/schemas/';

/** JSON Schema 2020-12, as far as it occurs. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  /** Which property's value tells the alternative of `oneOf`. */
  discriminator?: { propertyName: string; mapping: Record<string, string> };
  enum?: unknown[];
  /** Known values of a property that may get others. */
  'x-extensible-enum'?: unknown[];
  const?: unknown;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  maxProperties?: number;
  propertyNames?: Schema;
  default?: unknown;
  additionalProperties?: boolean | Schema;
  description?: string;
  examples?: unknown[];
}

export interface MediaType {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, { summary: string; value: unknown }>;
}

export type Content = Record<string, MediaType>;

export interface Header {
  description: string;
  required?: boolean;
  schema: Schema;
  example?: unknown;
}

export interface Parameter extends Header {
  name: string;
  in: 'path' | 'query' | 'header';
}

export interface RequestBody {
  required: boolean;
  content: Content;
}

export interface Response {
  description: string;
  headers?: Record<string, Header | Ref>;
  content?: Content;
  /** Values that `error.type` can have. */
  'x-error-types'?: string[];
}

export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  deprecated?: boolean;
  security: Record<string, string[]>[];
  'x-required-scope'?: string;
  'x-required-role'?: string;
  parameters?: (Parameter | Ref)[];
  requestBody?: RequestBody;
  responses: Record<string, Response | Ref>;
}

/** Operations by their methods in lower case. */
export type PathItem = Record<string, Operation>;

export interface SecurityScheme {
  type: string;
  description: string;
  scheme?: string;
  bearerFormat?: string;
  in?: string;
  name?: string;
}

export interface Components {
  schemas: Record<string, Schema>;
  responses: Record<string, Response>;
  parameters: Record<string, Parameter>;
  headers: Record<string, Header>;
  securitySchemes: Record<string, SecurityScheme>;
}

export interface OpenApiDocument {
  openapi: string;
  info: {
    title: string;
    version: string;
    summary: string;
    description: string;
    contact: { name: string };
    license: { name: string; identifier?: string };
  };
  servers: { url: string; description: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, PathItem>;
  webhooks: Record<string, PathItem>;
  components: Components;
}
