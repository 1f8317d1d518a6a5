import { type InvokeCommandOutput, LambdaClient } from '@aws-sdk/client-lambda';
import { describe, expect, it, vi } from 'vitest';
import { extraction } from '../../../functions/knowledge/extraction.ts';
import { NotPermitted, type Permit } from '../../../functions/tenancy/gate.ts';
import { recordedLog } from '../../doubles/recorded-log.ts';
import { aPermit } from '../delivery/outbound/permit.ts';
import { anExtraction } from './extraction-request.ts';

/** Invokes a function that answers so. */
async function answered(output: { FunctionError?: string; answer: unknown }) {
  const client = new LambdaClient({ region: 'us-east-1' });
  const log = recordedLog();
  const sent = vi.spyOn(client, 'send').mockImplementation(
    async (): Promise<Partial<InvokeCommandOutput>> => ({
      ...(output.FunctionError !== undefined && { FunctionError: output.FunctionError }),
      Payload: Buffer.from(
        typeof output.answer === 'string' ? output.answer : JSON.stringify(output.answer),
      ) as never,
    }),
  );
  const extract = extraction({ client, functionName: 'extract' }, log);
  return { finding: await extract(anExtraction(), await aPermit()), log, sent };
}

const failing = (errorType: string, errorMessage = '') =>
  answered({ FunctionError: 'Unhandled', answer: { errorType, errorMessage } });

describe('the extraction function', () => {
  it('is invoked with the request, and returns a finding', async () => {
    const { finding, sent } = await answered({ answer: { kind: 'fetched', text: 'one', choice: 'body' } });
    expect(finding).toEqual({ kind: 'fetched', text: 'one', choice: 'body' });
    expect(sent.mock.calls[0]?.[0].input).toMatchObject({ FunctionName: 'extract' });
  });

  it.each([
    ['Sandbox.Timedout', 'RequestId: 1 Error: Task timed out after 31.00 seconds', 'takes too long to read'],
    ['', '2026-11-28T10:00:00Z 1 Task timed out after 31.00 seconds', 'takes too long to read'],
    ['Runtime.OutOfMemory', 'RequestId: 1 Error: Runtime exited', 'takes too much memory to read'],
    ['Runtime.ExitError', 'Runtime exited with error: signal: killed', 'takes too much memory to read'],
    ['Runtime.ExitError', 'Runtime exited with error: signal: aborted', 'takes too much memory to read'],
    ['Runtime.ExitError', 'Runtime exited with error: exit status 1', 'could not be read'],
    ['Runtime.UnhandledPromiseRejection', 'Error: secret', 'could not be read'],
    ['TypeError', 'x is not a function', 'could not be read'],
    ['Function.ResponseSizeTooLarge', 'Response payload size exceeded', 'could not be read'],
  ])('that fails with %j %j: the content %s', async (errorType, message, problem) => {
    const { finding, log } = await failing(errorType, message);
    expect(finding).toEqual({ kind: 'failed', error: `the content ${problem}` });
    expect(log.entries.map(({ code }) => code)).toEqual(['EXTRACTION_ENDED']);
  });

  it.each(['', 'null', '[]', '{"kind":"fetched"}', '{"kind":"fetched","text":7}', 'no JSON'])(
    'that answers %j: the content could not be read',
    async (answer) => {
      expect((await answered({ answer })).finding).toEqual({
        kind: 'failed',
        error: 'the content could not be read',
      });
    },
  );

  it.each([
    'Runtime.ImportModuleError',
    'Runtime.HandlerNotFound',
    'Runtime.UserCodeSyntaxError',
    'InvocationFailed',
  ])('that could not start with %s fails the check, which is retried', async (errorType) => {
    await expect(failing(errorType)).rejects.toThrow(errorType);
  });

  it('is not invoked without a permit of the gate', async () => {
    const client = new LambdaClient({ region: 'us-east-1' });
    const send = vi.spyOn(client, 'send');
    const extract = extraction({ client, functionName: 'extract' }, recordedLog());
    await expect(extract(anExtraction(), { orgId: 'org_1' } as unknown as Permit)).rejects.toThrow(
      NotPermitted,
    );
    expect(send).not.toHaveBeenCalled();
  });
});
