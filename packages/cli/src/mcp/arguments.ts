import { z } from 'zod';

export const READ_ONLY = { readOnlyHint: true, openWorldHint: true } as const;

export const eventId = z.string().regex(/^evt_\w+$/);
export const endpointId = z.string().regex(/^whk_\w+$/);
export const conversationId = z.string().regex(/^cnv_\w+$/);
export const time = z.iso.datetime();
export const limit = z.number().int().min(1).max(100).default(20);
export const page = {
  limit,
  cursor: z.string().optional().describe('nextCursor of the page before'),
};

/** Arguments of a tool. An unknown one is refused: a typing error must not read more than was asked for. */
export const readArguments = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: ({ code }) =>
      code === 'unrecognized_keys'
        ? `Unknown argument. The arguments are: ${Object.keys(shape).join(', ')}.`
        : undefined,
  });
