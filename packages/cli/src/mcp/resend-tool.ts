import { createHash } from 'node:crypto';
import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Client } from '../../../sdk/src/index.ts';
import { describeStep, planResend, type ResendStep, type Resent, resend } from '../resend/resend.ts';
import { toErrorResult, toResult } from './result.ts';
import { endpointId, readArguments } from './tools.ts';

const Confirmation = z.object({ confirm: z.boolean().describe('Send these deliveries now') });
const Confirmed = z.object({ confirm: z.literal(true) });

/**
 * Tool of a key that may change endpoints. A person confirms what is sent: the client asks, or without that
 * ability a first call shows what would be sent, and a second one repeats its code.
 */
export function registerResendTool(server: McpServer, client: Client): void {
  server.registerTool(
    'resend',
    {
      title: 'Resend an event or a delivery',
      description:
        'Sends an event to its active endpoints, or to one, again, or a delivery. The user must confirm what is sent. ' +
        'Without "confirm", a client that cannot ask the user gets what would be sent and a code: show it to the user, ' +
        'and call again with the code after their yes.',
      inputSchema: readArguments({
        id: z.string().regex(/^(?:evt|dlv)_\w+$/),
        endpointId: endpointId.optional().describe('only to this endpoint'),
        confirm: z.string().optional().describe('the code of the call before, after the yes of the user'),
      }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    },
    async ({ id, endpointId: endpoint, confirm }, context) => {
      try {
        const steps = await planResend(client, { id, endpoint }, context.mcpReq);
        const missing = server.server.getClientCapabilities()?.elicitation
          ? askUser(steps, context)
          : requireCode(steps, confirm);
        if (missing !== undefined) return missing;
        const resent: Resent[] = [];
        for (const step of steps) resent.push(await resend(client, step, context.mcpReq));
        return toResult({ resent });
      } catch (error) {
        return toErrorResult(error);
      }
    },
  );
}

/** @returns undefined after the user's yes to exactly these steps */
function askUser(
  steps: readonly ResendStep[],
  { mcpReq }: ServerContext,
): CallToolResult | InputRequiredResult | undefined {
  const code = codeOf(steps);
  const response = inputResponse(mcpReq.inputResponses, 'confirm');
  // What was shown may have changed since.
  if (response.kind === 'missing' || mcpReq.requestState() !== code) {
    const message = `Resend?\n${steps.map(describeStep).join('\n')}`;
    return inputRequired({
      inputRequests: { confirm: inputRequired.elicit({ message, requestedSchema: Confirmation }) },
      requestState: code,
    });
  }
  const isConfirmed =
    response.kind === 'elicit' &&
    response.action === 'accept' &&
    Confirmed.safeParse(response.content).success;
  return isConfirmed ? undefined : toResult({ resent: [], reason: 'The user did not confirm.' });
}

function requireCode(steps: readonly ResendStep[], given: string | undefined): CallToolResult | undefined {
  const code = codeOf(steps);
  if (given === code) return undefined;
  return toResult({
    resent: [],
    wouldSend: steps,
    confirm: code,
    next: 'Nothing was sent. Show this to the user, and after their yes call resend again with this confirm.',
  });
}

/** Of exactly these steps: a code for others is not accepted. */
const codeOf = (steps: readonly ResendStep[]): string =>
  createHash('sha256').update(JSON.stringify(steps)).digest('hex').slice(0, 16);
