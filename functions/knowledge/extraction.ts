import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import * as z from 'zod/mini';
import type { Log } from '../aws/log-codes.ts';
import { Defect } from '../aws/logger.ts';
import { requirePermit } from '../tenancy/gate.ts';
import { CheckFinding, type Extract, unusable } from './source-content.ts';

/** Error of a function as Lambda reports it (Lambda Developer Guide, "Understanding retry behavior"). */
const FunctionError = z.object({
  errorType: z._default(z.string(), ''),
  errorMessage: z._default(z.string(), ''),
});
type FunctionError = z.infer<typeof FunctionError>;

/**
 * Invokes the extraction function, once: Lambda's limits of time and memory end it, and with it only the one
 * document. Its answer is untrusted.
 */
export function extraction(
  { client, functionName }: { client: LambdaClient; functionName: string },
  log: Log,
): Extract {
  return async (request, permit) => {
    requirePermit(permit);
    const { FunctionError: isError, Payload } = await client.send(
      new InvokeCommand({ FunctionName: functionName, Payload: Buffer.from(JSON.stringify(request)) }),
    );
    const answer = parseJson(Buffer.from(Payload ?? []).toString());
    if (isError === undefined) return CheckFinding.safeParse(answer).data ?? unusable(UNREADABLE);
    const failure = FunctionError.safeParse(answer).data ?? { errorType: '', errorMessage: '' };
    if (isDefect(failure)) throw new Defect(`the extraction function failed: ${failure.errorType}`);
    log('EXTRACTION_ENDED', { orgId: request.orgId, reason: failure.errorType });
    return unusable(describeFailure(failure));
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const UNREADABLE = 'the content could not be read';

/** Whether the function's code could not be loaded, or refused the request: not the content's fault. */
const isDefect = ({ errorType }: FunctionError): boolean =>
  /^(?:InvocationFailed$|Runtime\.(?:ImportModule|HandlerNotFound|UserCodeSyntax|MalformedHandlerName))/.test(
    errorType,
  );

function describeFailure({ errorType, errorMessage }: FunctionError): string {
  if (errorType === 'Sandbox.Timedout' || errorMessage.includes('Task timed out'))
    return 'the content takes too long to read';
  // V8 aborts when its heap is full; Lambda kills a function that needs more than its memory.
  return errorType === 'Runtime.OutOfMemory' || /signal: (?:aborted|killed)/.test(errorMessage)
    ? 'the content takes too much memory to read'
    : UNREADABLE;
}
