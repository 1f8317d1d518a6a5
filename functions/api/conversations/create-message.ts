import { Conversation } from '../../conversations/conversations.ts';
import type { UseCase } from '../../http/api.ts';
import type { ReadAhead } from '../../http/authentication.ts';
import { success } from '../../http/reply.ts';
import { keys } from '../../tenancy/keys.ts';
import { recordMessage } from '../messages.ts';
import { routeHandler } from '../route-handler.ts';
import { apiKeys, conversations } from '../stores.ts';
import * as routes from './routes.ts';

/** The conversation is read with the caller's key. */
const buildRowKey: ReadAhead['buildRowKey'] = (tenant, { pathParameters }) => {
  const { success, data } = routes.createMessage.params.safeParse(pathParameters);
  return success ? keys.conversation(tenant, data.id) : undefined;
};

const createMessage: UseCase<typeof routes.createMessage> = (request) => {
  const { tenant, params, body } = request;
  let { rowAhead } = request;
  const find = async () => {
    const row = rowAhead;
    rowAhead = undefined;
    return row === undefined ? conversations.find(tenant, params.id) : Conversation.parse(row);
  };
  return recordMessage(request, find, body, (message) =>
    success(message, { location: `/api/v1/conversations/${params.id}/messages/${message.id}` }),
  );
};

export const handler = routeHandler(routes.createMessage, createMessage, {
  ahead: { buildRowKey, findWith: apiKeys.findWith },
});
