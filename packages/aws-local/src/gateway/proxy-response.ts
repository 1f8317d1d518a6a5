import { validateHeaderName, validateHeaderValue } from 'node:http';
import * as z from 'zod';
import type { Answer } from './answer.ts';

const Scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String);

const ProxyResponse = z.object({
  statusCode: z
    .union([
      z.number(),
      z
        .string()
        .regex(/^\d{3}$/)
        .transform(Number),
    ])
    .pipe(z.int().min(200).max(599)),
  headers: z.record(z.string(), Scalar).nullish(),
  multiValueHeaders: z.record(z.string(), z.array(Scalar)).nullish(),
  body: z.string().nullish(),
  isBase64Encoded: z.boolean().nullish(),
});

/** Headers that only the gateway sets. */
const OWN_HEADERS = new Set(['connection', 'content-length', 'keep-alive', 'transfer-encoding', 'upgrade']);

/**
 * Parses a function's response to a proxy integration.
 * @param decodes whether the API treats the response as binary and decodes its base64 body
 * @returns undefined if malformed; the gateway then answers with its own error
 */
export function proxyAnswer(payload: unknown, decodes: boolean): Answer | undefined {
  const parsed = ProxyResponse.safeParse(payload);
  if (!parsed.success) return undefined;
  const { statusCode, headers, multiValueHeaders, body, isBase64Encoded } = parsed.data;
  const merged = mergedHeaders(headers ?? {}, multiValueHeaders ?? {});
  if (!merged) return undefined;
  return {
    statusCode,
    headers: merged,
    body: isBase64Encoded && decodes ? Buffer.from(body ?? '', 'base64') : (body ?? ''),
  };
}

/** `multiValueHeaders` override `headers`. Undefined when a header cannot be sent. */
function mergedHeaders(
  single: Record<string, string>,
  multi: Record<string, string[]>,
): Answer['headers'] | undefined {
  const merged = new Map<string, [name: string, value: string | string[]]>();
  merged.set('content-type', ['Content-Type', 'application/json']);
  for (const [name, value] of [...Object.entries(single), ...Object.entries(multi)]) {
    if (!isSendable(name, value)) return undefined;
    if (!OWN_HEADERS.has(name.toLowerCase())) merged.set(name.toLowerCase(), [name, value]);
  }
  return Object.fromEntries(merged.values());
}

function isSendable(name: string, value: string | string[]): boolean {
  try {
    validateHeaderName(name);
    for (const one of [value].flat()) validateHeaderValue(name, one);
    return true;
  } catch {
    return false;
  }
}
