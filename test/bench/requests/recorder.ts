import { appendFileSync } from 'node:fs';
import http from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

/*
 * Loaded first into each function's process by `NODE_OPTIONS`: writes down every request that the function
 * makes of AWS, and asks DynamoDB for its consumed capacity. Requests and answers are otherwise unchanged.
 */

const file = process.env.REQUEST_RECORDS;
const fn = process.env.FUNCTION_NAME ?? '';
const physicalName = process.env.AWS_LAMBDA_FUNCTION_NAME;
const request = http.request;

if (file !== undefined) {
  appendFileSync(file, `${JSON.stringify({ fn, physicalName })}\n`);
  Object.assign(http, {
    request: (...args: unknown[]): http.ClientRequest =>
      record(Reflect.apply(request, http, args), (line) =>
        appendFileSync(file, `${JSON.stringify({ fn, physicalName, ...line })}\n`),
      ),
  });
  syncBuiltinESMExports();
}

/** Holds a call until its body is complete, as the permission check does, so that it can be changed. */
function record(
  call: http.ClientRequest,
  write: (line: { operation: string; asked: string; answer: string }) => void,
): http.ClientRequest {
  const target = call.getHeader('x-amz-target');
  // `DynamoDB_20120810.PutItem` without its version; services with REST protocols have no target.
  const operation =
    typeof target === 'string' ? target.replace(/_\d+\./, '.') : `${call.method} ${call.path}`;
  const send = call.end.bind(call);
  const chunks: Buffer[] = [];
  const collect = (chunk: unknown): void => {
    if (typeof chunk === 'string') chunks.push(Buffer.from(chunk));
    else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  };
  return Object.assign(call, {
    write(chunk: unknown): boolean {
      collect(chunk);
      return true;
    },
    end(chunk?: unknown): http.ClientRequest {
      collect(chunk);
      const asked = Buffer.concat(chunks).toString();
      onAnswer(call, (answer) => write({ operation, asked, answer }));
      if (!operation.startsWith('DynamoDB.')) return send(asked);
      const body = Buffer.from(JSON.stringify({ ...JSON.parse(asked), ReturnConsumedCapacity: 'INDEXES' }));
      call.setHeader('content-length', body.length);
      return send(body);
    },
  });
}

/**
 * Reads an answer completely before the SDK does, because a stream that is read twice would be short for the
 * second reader.
 */
function onAnswer(call: http.ClientRequest, use: (answer: string) => void): void {
  const emit = call.emit.bind(call);
  Object.assign(call, {
    emit(event: string, ...args: unknown[]): boolean {
      const [response] = args;
      if (event !== 'response' || !(response instanceof http.IncomingMessage))
        return Reflect.apply(emit, call, [event, ...args]);
      const { statusCode, statusMessage, headers } = response;
      buffer(response).then(
        (body) => {
          use(body.toString());
          emit('response', Object.assign(Readable.from([body]), { statusCode, statusMessage, headers }));
        },
        (error: unknown) => emit('error', error),
      );
      return true;
    },
  });
}
