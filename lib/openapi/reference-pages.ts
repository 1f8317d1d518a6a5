import { EVENT_CATALOGUE, type EventType } from '../../functions/events/events.ts';
import { PROBLEM_STATUS, type ProblemType } from '../../functions/http/problem.ts';
import { currentDocument } from './current.ts';
import { definitionName, EVENT_SCHEMAS } from './event-schemas.ts';
import { eventExample } from './events.ts';
import type { Schema } from './openapi.ts';
import { FIELD_ERROR_TEXTS, PROBLEM_TEXTS } from './problems.ts';
import { EVENT_TYPES, eventSchemaName } from './schemas.ts';

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const table = (columns: readonly string[], rows: readonly string[][]): string =>
  [row(columns), row(columns.map(() => '---')), ...rows.map(row)].join('\n');
const code = (text: string): string => `\`${text}\``;

/** The page of all error types, in Markdown, by status. */
export function errorsPage(): string {
  const types = Object.entries(PROBLEM_STATUS) as [ProblemType, number][];
  const sections = types
    .toSorted(([, one], [, other]) => one - other)
    .map(([type, status]) => {
      const { description, messages, sessionMessages } = PROBLEM_TEXTS[type];
      const examples = Object.entries({ ...messages, ...sessionMessages }).map(([about, message]) => [
        about,
        message,
      ]);
      const codes = type === 'VALIDATION_ERROR' ? `\n\n${detailCodes()}` : '';
      return `## ${type}\n\nStatus ${status}. ${description}\n\n${table(['Example', 'Message'], examples)}${codes}`;
    });
  return `# Errors

Written by \`npm run generate -- openapi\` from \`functions/http/problem.ts\` and \`lib/openapi/problems.ts\`. Handle errors by
\`error.type\`; messages can change. [Specification](../specification.md#error-types) says when each type occurs.

${sections.join('\n\n')}
`;
}

const detailCodes = (): string =>
  `Each entry of \`details\` has a \`code\`. Handle faults by it: messages can change, codes do not, and later ones may be added.\n\n${table(
    ['Code', 'Meaning'],
    Object.entries(FIELD_ERROR_TEXTS).map(([name, meaning]) => [code(name), meaning]),
  )}`;

const SENT_TO = {
  subscribers: 'Sent to each active endpoint that lists the type in its `events`.',
  endpoint: 'Sent to one endpoint.',
  channel: 'Sent to one channel of kind `http`.',
} as const;

/** The page of all event types, in Markdown: fields of `data` and an example of each. */
export function eventsPage(): string {
  const { schemas } = currentDocument().components;
  const sections = EVENT_TYPES.map((type) => eventSection(type, schemas[eventSchemaName(type)]));
  return `# Events

Written by \`npm run generate -- openapi\` from \`functions/events/events.ts\`. The body of a delivery has the fields \`type\`,
\`schemaVersion\`, \`orgId\`, \`createdAt\` and \`data\`. [Verify signatures](../guides/verify-signatures.md) explains the headers.

## Schemas

[\`${EVENT_SCHEMAS}\`](../schemas/event.json) is a JSON Schema (draft 2020-12) of the body of a delivery, written by \`npm run generate -- schemas\`. It has a
definition for each version of each event type, such as \`#/$defs/ticket.created.v1\`, which is complete without the others. Use it to validate deliveries, to
generate types, or to make test data.

- Validate after you have verified the signature, and only types that you process: types are added without notice.
- A changed body has a new \`schemaVersion\`, and a definition of its own beside the earlier one. A released definition does not change, except for its texts.
- A validator must know the format \`date-time\` (\`ajv-formats\` for Ajv).
- The schemas allow unknown fields. Events have none.

${sections.join('\n\n')}
`;
}

function eventSection(type: EventType, schema: Schema | undefined): string {
  const { description, schemaVersion, sentTo, fields } = EVENT_CATALOGUE[type];
  const data = schema?.properties?.data;
  const rows = Object.entries(fields).map(([name, text]) => [
    code(name),
    typeName(data?.properties?.[name]),
    data?.required?.includes(name) ? 'yes' : 'no',
    text,
  ]);
  return [
    `## ${type}`,
    `${description} ${SENT_TO[sentTo]} Schema: \`#/$defs/${definitionName(type, schemaVersion)}\`.`,
    table(['Field of `data`', 'Type', 'Always present', 'Meaning'], rows),
    `\`\`\`json\n${JSON.stringify(eventExample(type).body, null, 2)}\n\`\`\``,
  ].join('\n\n');
}

/** The page of all fields of request bodies, in Markdown. */
export function fieldsPage(): string {
  const rows = Object.entries(currentDocument().components.schemas)
    .filter(([, { additionalProperties }]) => additionalProperties === false)
    .flatMap(([name, { properties = {}, required = [] }]) =>
      Object.entries(properties).map(([field, schema]) => [
        code(name),
        `${code(field)}${required.includes(field) ? '' : ' (optional)'}`,
        accepted(schema),
        schema.description ?? '',
      ]),
    );
  return `# Fields of requests

Written by \`npm run generate -- openapi\` from the schemas of the routes (\`functions/api/*/routes.ts\`) and their texts (\`lib/openapi/texts\`).
Any other value, or another field, is refused with 400 \`VALIDATION_ERROR\`, which names the field and its limit.

${table(['Body', 'Field', 'Value', 'Meaning'], rows)}
`;
}

/** The values of a field that are accepted. */
function accepted({ type, format, enum: values, const: only, items, ...bounds }: Schema): string {
  const orNull = [type].flat().includes('null') ? ', or null' : '';
  if (only !== undefined || values !== undefined)
    return [only ?? values]
      .flat()
      .map((value) => code(String(value)))
      .join(', ');
  if (items !== undefined) return `list of ${accepted(items)}`;
  const { minLength = 0, maxLength, minimum, maximum, pattern = '' } = bounds;
  const [kind] = [type].flat();
  const [, prefix] = /^\^(\w+_)\[/.exec(pattern) ?? [];
  if (prefix !== undefined) return `identifier ${code(`${prefix}…`)}`;
  if (format === 'date-time') return 'time (RFC 3339)';
  if (maxLength !== undefined)
    return `${format === 'uri' ? 'URL' : 'text'}, ${minLength === 0 ? 'at most' : `${minLength} to`} ${maxLength.toLocaleString('en-US')} characters${orNull}`;
  return maximum === undefined
    ? `${kind}${orNull}`
    : `${kind}, ${minimum} to ${maximum.toLocaleString('en-US')}${orNull}`;
}

function typeName(schema: Schema | undefined): string {
  if (schema?.enum !== undefined) return schema.enum.map((value) => code(String(value))).join(', ');
  return String(schema?.type ?? 'any');
}
