import type { buildApp } from 'fauxqs';
import type { Internals } from './fauxqs.ts';

type App = ReturnType<typeof buildApp>;
type Attributes = Record<string, { DataType: string; StringValue?: string }>;

/** Under which the engine keeps a message's trace header; no reader sees this attribute. */
const KEPT_AS = 'local-run.AWSTraceHeader';
const NAME = 'AWSTraceHeader';

/** What requests in progress say of their messages, by the attributes that the messages will have. */
const dropped = new WeakMap<object, { header: string | undefined; group: string | undefined }>();

/**
 * Keeps what version 2.4.1 of the engine drops of messages: the system attribute `AWSTraceHeader`, which SQS
 * takes from the entry or from the request's header `X-Amzn-Trace-Id`, and the `MessageGroupId` of a message
 * in a standard queue.
 */
export function keepDroppedFields(app: App, { SqsStore }: Internals): void {
  keepWithMessages(SqsStore);
  app.addHook('preHandler', async ({ headers: sent, body }) => {
    const target = sent['x-amz-target'];
    const header = sent['x-amzn-trace-id'];
    const request = Object(body);
    if (target === 'AmazonSQS.SendMessage') rememberFields(request, header);
    if (target === 'AmazonSQS.SendMessageBatch')
      for (const entry of Object(request.Entries ?? [])) rememberFields(entry, header);
    if (target === 'AmazonSQS.ReceiveMessage' && request.MessageAttributeNames?.length > 0)
      request.MessageAttributeNames = [...request.MessageAttributeNames, KEPT_AS];
  });
  app.addHook('preSerialization', async ({ headers: sent, body }, _, payload) => {
    if (sent['x-amz-target'] !== 'AmazonSQS.ReceiveMessage') return payload;
    const { MessageSystemAttributeNames = [], AttributeNames = [] } = Object(body);
    const wanted = [...MessageSystemAttributeNames, ...AttributeNames];
    const isWanted = wanted.includes('All') || wanted.includes(NAME);
    for (const message of Object(payload).Messages ?? []) moveHeader(message, isWanted);
    return payload;
  });
}

function rememberFields(entry: Record<string, unknown>, header: string | string[] | undefined): void {
  const own: unknown = Object(Object(entry.MessageSystemAttributes)[NAME]).StringValue;
  entry.MessageAttributes ??= {};
  dropped.set(Object(entry.MessageAttributes), {
    header: textOf(own ?? header),
    group: textOf(entry.MessageGroupId),
  });
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** The attribute of the engine becomes what SQS answers. */
function moveHeader(
  message: { Attributes?: Record<string, string>; MessageAttributes?: Attributes },
  isWanted: boolean,
): void {
  const { [KEPT_AS]: kept, ...others } = message.MessageAttributes ?? {};
  if (kept === undefined) return;
  if (isWanted && kept.StringValue !== undefined)
    message.Attributes = { ...message.Attributes, [NAME]: kept.StringValue };
  if (Object.keys(others).length > 0) message.MessageAttributes = others;
  else delete message.MessageAttributes;
}

/** Once per process: the class is that of all engines in it. */
function keepWithMessages(store: Internals['SqsStore']): void {
  const create = store.createMessage;
  if (Reflect.has(create, NAME)) return;
  // Here and not in the request: what is added there would count towards the message's size and digest.
  const createWithFields: typeof create = (body, attributes = {}, ...others) => {
    const message = create(body, attributes, ...others);
    const { header, group } = dropped.get(attributes) ?? {};
    if (group !== undefined) message.messageGroupId = group;
    if (header !== undefined)
      message.messageAttributes = {
        ...attributes,
        [KEPT_AS]: { DataType: 'String', StringValue: header },
      };
    return message;
  };
  store.createMessage = Object.assign(createWithFields, { [NAME]: true });
}
