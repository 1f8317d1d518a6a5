import type { Parameter } from '../openapi.ts';
import type { Item } from './contents.ts';

export const LANGUAGES = [
  { id: 'curl', name: 'curl' },
  { id: 'typescript', name: 'TypeScript' },
  { id: 'python', name: 'Python' },
] as const;
export type Language = (typeof LANGUAGES)[number]['id'];

/** A request as the samples write it. */
interface Call {
  method: string;
  path: string;
  /** Environment variable with the credential. */
  credential: string;
  hasIdempotencyKey: boolean;
  body: unknown;
}

/**
 * The request of an operation in each language. Server and credentials are in environment variables, named as
 * `npm start` names them.
 * @param parameters of the operation, references resolved
 */
export function samplesOf(item: Item, parameters: readonly Parameter[]): Record<Language, string> {
  const call = callOf(item, parameters);
  return { curl: curl(call), typescript: typescript(call), python: python(call) };
}

function callOf({ method = '', path, operation }: Item, parameters: readonly Parameter[]): Call {
  const filled = parameters
    .filter((parameter) => parameter.in === 'path')
    .reduce((text, { name, example, schema }) => {
      const value = example ?? schema.examples?.[0];
      return value === undefined ? text : text.replace(`{${name}}`, String(value));
    }, path);
  return {
    method,
    path: filled,
    credential: credentialOf(operation),
    hasIdempotencyKey: parameters.some(({ name }) => name === 'Idempotency-Key'),
    body: operation.requestBody?.content['application/json']?.example,
  };
}

const credentialOf = ({ security }: Item['operation']): string =>
  security.some((scheme) => 'visitorToken' in scheme) ? 'VISITOR_TOKEN' : 'API_KEY';

function curl({ method, path, credential, hasIdempotencyKey, body }: Call): string {
  return [
    method === 'GET' ? `curl "$BASE_URL${path}"` : `curl -X ${method} "$BASE_URL${path}"`,
    `-H "Authorization: Bearer $${credential}"`,
    ...(hasIdempotencyKey ? ['-H "Idempotency-Key: $(uuidgen)"'] : []),
    ...(body === undefined
      ? []
      : ['-H "Content-Type: application/json"', `-d '${json(body).replaceAll("'", String.raw`'\''`)}'`]),
  ].join(' \\\n  ');
}

function typescript({ method, path, credential, hasIdempotencyKey, body }: Call): string {
  const headers = [
    `Authorization: \`Bearer \${process.env.${credential}}\`,`,
    ...(hasIdempotencyKey ? ["'Idempotency-Key': crypto.randomUUID(),"] : []),
    ...(body === undefined ? [] : ["'Content-Type': 'application/json',"]),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}',`]),
    'headers: {',
    ...headers.map((line) => `  ${line}`),
    '},',
    ...(body === undefined ? [] : [`body: JSON.stringify(${json(body)}),`]),
  ];
  return [
    `const response = await fetch(\`\${process.env.BASE_URL}${path}\`, {`,
    ...options.map((line) => indented(line)),
    '});',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the sample has the placeholder
    'if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);',
    ...(method === 'DELETE' ? [] : ['const { data } = await response.json();']),
  ].join('\n');
}

function python({ method, path, credential, hasIdempotencyKey, body }: Call): string {
  const headers = [
    `"Authorization": f"Bearer {os.environ['${credential}']}",`,
    ...(hasIdempotencyKey ? ['"Idempotency-Key": str(uuid.uuid4()),'] : []),
  ];
  const options = [
    `f"{os.environ['BASE_URL']}${path}",`,
    'headers={',
    ...headers.map((line) => indented(line, 4)),
    '},',
    ...(body === undefined ? [] : [`json=${pythonLiteral(body)},`]),
  ];
  return [
    'import os',
    ...(hasIdempotencyKey ? ['import uuid'] : []),
    '',
    'import requests',
    '',
    `response = requests.${method.toLowerCase()}(`,
    ...options.map((line) => indented(line, 4)),
    ')',
    'response.raise_for_status()',
    ...(method === 'DELETE' ? [] : ['data = response.json()["data"]']),
  ].join('\n');
}

const json = (value: unknown): string => JSON.stringify(value, undefined, 2);
const indented = (text: string, spaces = 2): string => text.replaceAll(/^/gm, ' '.repeat(spaces));

/** A value of JSON as Python writes it. */
export function pythonLiteral(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const entries = Object.entries(value).map(
    ([key, each]) => `${JSON.stringify(key)}: ${pythonLiteral(each)},`,
  );
  return entries.length === 0 ? '{}' : `{\n${entries.map((line) => indented(line, 4)).join('\n')}\n}`;
}
