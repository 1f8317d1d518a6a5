import { createHash } from 'node:crypto';
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { toResult } from './result.ts';

/** What a tool is about to do. */
interface Plan {
  /** Everything that the user's yes is for. */
  what: object;
  /** For the user. */
  message: string;
  /** The code of an earlier call, after which the user agreed. */
  given: string | undefined;
}

const Confirmation = z.object({ confirm: z.boolean().describe('Do this now') });
const Confirmed = z.object({ confirm: z.literal(true) });

export const CONFIRM = z
  .string()
  .optional()
  .describe('the code of the call before, after the yes of the user to what it showed');

/** For descriptions of tools that change something. */
export const CONFIRMED_BY_USER =
  'The user must confirm it. Without "confirm", a client that cannot ask the user gets what would be done and a code: ' +
  'show it to the user, and call again with the code after their yes.';

/**
 * A person confirms: the client asks, or without that ability a first call returns a code, and a second one
 * repeats it.
 * @returns what the tool must return; undefined after the user's yes to exactly this plan
 */
export function requireConfirmation(
  { server }: McpServer,
  { what, message, given }: Plan,
  { mcpReq }: ServerContext,
): CallToolResult | InputRequiredResult | undefined {
  const code = createHash('sha256').update(JSON.stringify(what)).digest('hex').slice(0, 16);
  // A request of the newest revision says what its client can.
  const { [CLIENT_CAPABILITIES_META_KEY]: own } = Object(mcpReq.envelope) as Record<string, unknown>;
  if (!Object(own ?? server.getClientCapabilities()).elicitation) {
    if (given === code) return undefined;
    const next = 'Nothing was done. Show this to the user, and after their yes call again with this confirm.';
    return toResult({ done: false, would: what, confirm: code, next });
  }
  const response = inputResponse(mcpReq.inputResponses, 'confirm');
  // What was shown may have changed since.
  if (response.kind === 'missing' || mcpReq.requestState() !== code)
    return inputRequired({
      inputRequests: { confirm: inputRequired.elicit({ message, requestedSchema: Confirmation }) },
      requestState: code,
    });
  const isConfirmed =
    response.kind === 'elicit' &&
    response.action === 'accept' &&
    Confirmed.safeParse(response.content).success;
  return isConfirmed ? undefined : toResult({ done: false, reason: 'The user did not confirm.' });
}
