import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Client } from '../../../sdk/src/index.ts';
import { describeStep, planResend, type Resent, resend } from '../resend/resend.ts';
import { endpointId, readArguments } from './arguments.ts';
import { CONFIRM, CONFIRMED_BY_USER, requireConfirmation } from './confirmation.ts';
import { toErrorResult, toResult } from './result.ts';

/** Tool of a key that may change endpoints. */
export function registerResendTool(server: McpServer, client: Client): void {
  server.registerTool(
    'resend',
    {
      title: 'Resend an event or a delivery',
      description: `Sends an event to its active endpoints, or to one, again, or a delivery. ${CONFIRMED_BY_USER}`,
      inputSchema: readArguments({
        id: z.string().regex(/^(?:evt|dlv)_\w+$/),
        endpointId: endpointId.optional().describe('only to this endpoint'),
        confirm: CONFIRM,
      }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    },
    async ({ id, endpointId: endpoint, confirm: given }, context) => {
      try {
        const steps = await planResend(client, { id, endpoint }, context.mcpReq);
        const message = `Resend?\n${steps.map(describeStep).join('\n')}`;
        const missing = requireConfirmation(server, { what: steps, message, given }, context);
        if (missing !== undefined) return missing;
        const resent: Resent[] = [];
        for (const step of steps) resent.push(await resend(client, step, context.mcpReq));
        return toResult({ done: true, resent });
      } catch (error) {
        return toErrorResult(error);
      }
    },
  );
}
