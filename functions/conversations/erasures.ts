import * as z from 'zod/mini';
import { all, unchanged } from '../aws/expression.ts';
import { ConversationId, deriveEventId, ErasureId, newId, Timestamp } from '../aws/ids.ts';
import { EXISTS, get, type Table, toExpiry } from '../aws/table.ts';
import { buildAddition, buildDelete, type Change } from '../aws/transaction.ts';
import { buildSandboxMark, keys } from '../tenancy/keys.ts';
import { purgeStore } from '../tenancy/purge.ts';
import type { Tenant } from '../tenancy/tenant.ts';
import { type Conversation, linkConversation } from './conversations.ts';

/** Conversations that one transaction erases. A request or a run that erases more makes several erasures. */
export const ERASED_AT_ONCE = 10;
/** Days for which a receipt is kept: as long as the entry of the audit log. */
const RECEIPT_DAYS = 400;
/**
 * Days for which an erased conversation is known. Everything that can still have its text expires before: an
 * event after 33 days, a delivery after 30, an idempotency record after one.
 */
const TOMBSTONE_DAYS = 40;

export const ErasureReason = z.enum(['conversation', 'contact', 'retention']);

/** Conversations that were erased together, and the receipt of that. */
export const Erasure = z.object({
  id: ErasureId,
  reason: ErasureReason,
  conversationIds: z.array(ConversationId),
  /** The erasure before, of the same request. */
  previousId: z.optional(ErasureId),
  requestedAt: Timestamp,
  /** When the purge had deleted everything. */
  completedAt: z.optional(Timestamp),
});
export type Erasure = z.infer<typeof Erasure>;

export const createErasure = (
  reason: Erasure['reason'],
  conversations: readonly Conversation[],
  now: Date,
  previousId?: ErasureId,
): Erasure => ({
  id: newId('era', now),
  reason,
  conversationIds: conversations.map(({ id }) => id),
  ...(previousId && { previousId }),
  requestedAt: now.toISOString(),
});

/** What the audit log says of an erasure: what was erased, and no texts. */
export const describeErasure = ({ conversationIds }: Erasure) => [
  { field: 'conversationIds', before: conversationIds, after: null },
];

export function erasureStore(service: Table) {
  return {
    /**
     * Erases conversations for every reader at once, and orders the deletion of what belongs to them. Refused
     * as `conversation-changed` when one is not as it was read.
     */
    add(tenant: Tenant, erasure: Erasure, conversations: readonly Conversation[]): Change[] {
      const { id: erasureId, conversationIds, requestedAt } = erasure;
      const at = new Date(requestedAt);
      const mark = buildSandboxMark(tenant);
      return [
        ...conversations.flatMap((conversation) => [
          buildDelete(service, keys.conversation(tenant, conversation.id), {
            refusal: 'conversation-changed',
            if: all(EXISTS, unchanged({ ...conversation }, ['updatedAt'])),
          }),
          buildDelete(service, keys.userConversation(tenant, conversation.externalUserId, conversation.id), {
            refusal: 'conversation-changed',
          }),
          buildAddition(service, {
            ...keys.tombstone(tenant, conversation.id),
            ...mark,
            conversationId: conversation.id,
            erasureId,
            expiresAt: toExpiry(at, TOMBSTONE_DAYS),
          }),
          // The purge finds by it the event of the conversation's start.
          linkConversation(
            service,
            tenant,
            conversation.id,
            deriveEventId('conversation.created', conversation.id),
            conversation,
          ),
        ]),
        buildAddition(service, {
          ...keys.erasure(tenant, erasureId),
          ...mark,
          ...erasure,
          expiresAt: toExpiry(at, RECEIPT_DAYS),
        }),
        purgeStore(service).order({ ...tenant, requestedAt, erasureId, conversationIds }),
      ];
    },

    async find(tenant: Tenant, id: ErasureId): Promise<Erasure | undefined> {
      const row = await get(service, keys.erasure(tenant, id));
      return row && Erasure.parse(row);
    },

    /** The erasure of a conversation; undefined when it was not erased, or more than 40 days ago. */
    async findOf(tenant: Tenant, id: ConversationId): Promise<ErasureId | undefined> {
      const row = await get(service, keys.tombstone(tenant, id));
      return row && ErasureId.parse(row.erasureId);
    },
  };
}
