import { CONTEXT_FIELDS, type FieldKind, type Line, LOG_CODES } from '../../functions/aws/log-codes.ts';

/** Where the page is, from the root of the project. */
export const LOGS_PAGE = 'docs/reference/logs.md';

const KINDS: Readonly<Record<FieldKind, string>> = {
  id: 'a name that the service or AWS made: an identifier, a time, an ARN',
  words: 'fixed text, or a code of a dependency',
  count: 'a number',
  counts: 'several numbers by name',
  flag: 'true or false',
  failure:
    'an error: its name, codes and HTTP status, the AWS request id, where it was thrown; its message only where the text is the service’s own',
};

const LEVELS = ['error', 'warn', 'info', 'debug'] as const;

const fieldsOf = (fields: Line['fields']): string =>
  Object.entries(fields)
    .map(([name, kind]) => (kind === 'id' ? `\`${name}\`` : `\`${name}\` (${kind})`))
    .join(', ');

/** The page on every line that the functions log, in Markdown. */
export function logsPage(): string {
  const all: [string, Line][] = Object.entries(LOG_CODES);
  const tables = LEVELS.map((level) => {
    const rows = all
      .filter(([, line]) => line.level === level)
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(
        ([code, { message, operator, fields }]) =>
          `| \`${code}\` | ${message} | ${operator} | ${fieldsOf(fields)} |`,
      );
    return `## ${level.toUpperCase()}\n\n| Code | What it means | What an operator does | Fields |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  return `# What the functions log

Every line is a JSON object with a \`code\` of the tables below, its \`level\`, a \`message\` that says what the code means, and no fields but those that its code
declares. It never holds a credential, a body, a URL's query or an e-mail address: there is no kind of field for free text. This page is written by
\`npm run generate -- logs\` from the registry (\`functions/aws/log-codes.ts\`).

To follow one API call through the API function, the fan-out, the dispatcher and the workers behind the bus, search all log groups for its \`traceId\`, which is
the root of its \`X-Amzn-Trace-Id\`:

\`\`\`
fields @timestamp, service, code, deliveryId, @message | filter traceId = "1-…" | sort @timestamp
\`\`\`

Lines of what went well are at DEBUG: where a stage logs at INFO, a trace shows what did not.

| Field of any line | |
|---|---|
${Object.keys(CONTEXT_FIELDS)
  .map((name) => `| \`${name}\` | ${OF_CONTEXT[name as keyof typeof CONTEXT_FIELDS]} |`)
  .join('\n')}

| Kind of field | |
|---|---|
${Object.entries(KINDS)
  .map(([kind, meaning]) => `| ${kind === 'id' ? 'id (where none is named)' : kind} | ${meaning} |`)
  .join('\n')}

${tables.join('\n')}`;
}

const OF_CONTEXT: Readonly<Record<keyof typeof CONTEXT_FIELDS, string>> = {
  traceId: 'what everything that one API call caused has in common; what began with no call has none',
  requestId: 'of the API request, as its answer and the access log say it',
  route: 'name of the route',
  orgId: 'the organization whose data it is about',
  keyId: 'the API key that called',
  userId: 'the person who called, as the issuer of sessions names them',
  conversationId: 'the conversation of the visitor who called',
};
