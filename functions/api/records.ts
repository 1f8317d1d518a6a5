import * as z from 'zod/mini';
import { Conversation, Escalation, Message, Ticket } from './conversations/routes.ts';

/** What an event is about. The prefix of the id tells which of them it is. */
export const EventRecord = z.union([Message, Conversation, Escalation, Ticket]);
