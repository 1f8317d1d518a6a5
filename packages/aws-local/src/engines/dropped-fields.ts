import type { buildApp } from 'fauxqs';
import type { Internals } from './fauxqs.ts';

type App = ReturnType<typeof buildApp>;
type Attributes = Record<string, { DataType: string; StringValue?: string }>;
type Request = Record<string, unknown>;

/** The engine stores the trace header under this attribute, which no reader sees. */
const KEPT_AS = 'local-run.AWSTraceHeader';
const NAME = 'AWSTraceHeader';

/** Fields of requests in progress, by the attributes that their messages will have. */
const dropped = new WeakMap<object, { header: string | undefined; group: string | undefined }>();

/**
 * Keeps fields that version 2.4.1 of the engine drops: the system attribute `AWSTraceHeader`, from the entry
 * or the request header `X-Amzn-Trace-Id`, and the `MessageGroupId` of a message in a standard queue.
 */
export function keepDroppedFields(app: App, { SqsStore }: Internals): void {
  keepWithMessages(SqsStore);
  app.addHook('preHandler', async ({ headers, body }) =>
    prepareRequest(String(headers['x-amz-target']), Object(body), headers['x-amzn-trace-id']),
  );
  app.addHook('preSerialization', async ({ headers, body }, _, payload) =>
    completeAnswer(String(headers['x-amz-target']), Object(body), payload),
  );
}

/** Stores the fields of a request's messages before the engine drops them. */
export function prepareRequest(
  target: string,
  request: Request,
  header?: string | string[] | undefined,
): void {
  if (target === 'AmazonSQS.SendMessage') rememberFields(request, header);
  if (target === 'AmazonSQS.SendMessageBatch')
    for (const entry of Object(request.Entries ?? [])) rememberFields(entry, header);
  if (target === 'AmazonSQS.ReceiveMessage' && Object(request.MessageAttributeNames).length > 0)
    request.MessageAttributeNames = [...Object(request.MessageAttributeNames), KEPT_AS];
}

/** Moves the stored fields of received messages to their places. */
export function completeAnswer<Payload>(target: string, request: Request, payload: Payload): Payload {
  if (target !== 'AmazonSQS.ReceiveMessage') return payload;
  const { MessageSystemAttributeNames = [], AttributeNames = [] } = Object(request);
  const wanted = [...MessageSystemAttributeNames, ...AttributeNames];
  const isWanted = wanted.includes('All') || wanted.includes(NAME);
  for (const message of Object(payload).Messages ?? []) moveHeader(message, isWanted);
  return payload;
}

function rememberFields(entry: Record<string, unknown>, header: string | string[] | undefined): void {
  const own: unknown = Object(Object(entry.MessageSystemAttributes)[NAME]).StringValue;
  entry.MessageAttributes ??= {};
  dropped.set(Object(entry.MessageAttributes), {
    header: readText(own ?? header),
    group: readText(entry.MessageGroupId),
  });
}

const readText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

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

/** Patched once per process, because all engines share the class. */
function keepWithMessages(store: Internals['SqsStore']): void {
  const create = store.createMessage;
  if (Reflect.has(create, NAME)) return;
  // Added to the request, they would count towards the message's size and digest.
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
