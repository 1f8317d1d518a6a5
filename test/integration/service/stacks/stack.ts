import { closeSync, openSync, readSync } from 'node:fs';
import { inject } from 'vitest';
import { connectService, type Service, type ServiceParts } from '../../../support/service.ts';

export interface LogLine {
  source: string;
  text: string;
}

/** Where the parts of the shared stack are. */
export interface StackParts extends ServiceParts {
  /** A line of JSON for each line that functions log. */
  logFile: string;
  /** Takes a {@link UserRequest}. */
  usersUrl: string;
}

type Session = Parameters<Service['session']>;
/** For a session of one of the users, whom only the stack's process has. */
export interface UserRequest {
  orgId: Session[0];
  role: Session[1];
  lifetimeSeconds: Session[2];
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** URL that starts the shared stack. */
    stack: string;
  }
}

/** Connects the tests of a file to the shared stack, and starts it if they are the first. */
export async function connectStack(): Promise<{ service: Service; log(): LogLine[] }> {
  const { usersUrl, logFile, ...parts }: StackParts = JSON.parse(await read(inject('stack')));
  const ask = (request: UserRequest) => read(usersUrl, { method: 'POST', body: JSON.stringify(request) });
  return {
    service: connectService(parts, {
      session: (orgId, role, lifetimeSeconds) => ask({ orgId, role, lifetimeSeconds }),
    }),
    log: readerOf(logFile),
  };
}

async function read(url: string, request?: RequestInit): Promise<string> {
  const answer = await fetch(url, request);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.text();
}

/** Reads the lines of a growing file, each once. */
function readerOf(path: string): () => LogLine[] {
  const lines: LogLine[] = [];
  const buffer = Buffer.alloc(1024 * 1024);
  let rest = Buffer.alloc(0);
  let position = 0;
  return () => {
    const file = openSync(path, 'r');
    for (let read = readSync(file, buffer, 0, buffer.length, position); read > 0; ) {
      position += read;
      rest = Buffer.concat([rest, buffer.subarray(0, read)]);
      read = readSync(file, buffer, 0, buffer.length, position);
    }
    closeSync(file);
    const end = rest.lastIndexOf('\n') + 1;
    const complete = rest.subarray(0, end).toString();
    rest = rest.subarray(end);
    for (const line of complete.split('\n')) if (line !== '') lines.push(JSON.parse(line));
    return lines;
  };
}
