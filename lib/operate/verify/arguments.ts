import { parseArgs } from 'node:util';
import { UsageError } from '../errors.ts';

const OPTIONS = {
  local: { type: 'boolean', default: false },
  stage: { type: 'string' },
  outputs: { type: 'string' },
  region: { type: 'string' },
  receiver: { type: 'string' },
  token: { type: 'string' },
  wait: { type: 'string', default: '20' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

export interface VerifyArguments {
  local: boolean;
  stage?: string;
  outputs?: string;
  region?: string;
  receiver?: string;
  token?: string;
  waitMs: number;
  json: boolean;
}

/** @throws UsageError naming what is wrong */
export function readVerifyArguments(args: readonly string[]): VerifyArguments | 'help' {
  const { help, wait, ...flags } = parsed(args);
  if (help || args.length === 0) return 'help';
  if (flags.local && flags.stage !== undefined) throw new UsageError('Either --local or --stage.');
  if (!/^[1-9]\d{0,2}$/.test(wait)) throw new UsageError('--wait must be a whole number from 1 to 999.');
  if (flags.receiver !== undefined && URL.parse(flags.receiver)?.protocol !== 'https:')
    throw new UsageError('--receiver must be an https URL.');
  return { ...flags, waitMs: Number(wait) * 1000 };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, strict: true, allowPositionals: false }).values;
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message);
    throw error;
  }
}

/** What the tool does, for people. */
export const usage =
  (): string => `Verifies a deployment of the Conversation Service, or the local run, from outside and inside.

Usage: npm run verify -- (--stage prod | --local) [<flags>]

It makes an organization of its own, calls each kind of route, delivers an event in the organization's sandbox, rings an alarm,
and looks at event source mappings, queues and dead letters. It removes what it made, also after a failure or Ctrl-C.

  --stage NAME     the deployment: its stacks are ConversationService-NAME-…
  --region NAME    where it is (AWS_REGION)
  --outputs FILE   outputs of its stacks, as "cdk deploy --outputs-file" or "aws cloudformation describe-stacks" writes them
                   (the AWS command line is asked)
  --local          the local run instead, which must be running
  --token TOKEN    ID token of a signed-in admin; better in VERIFY_TOKEN, where other users of the machine do not see it.
                   With --local it is the local organization's
  --receiver URL   send a live event to this https URL, which must answer 2xx
  --wait SECONDS   how long a delivery, an alarm's notification or a queue may take (20)
  --json           print JSON for programs
  --help           show this

Exit codes: 0 all passed or skipped, 1 a check failed, 2 called wrongly, 130 interrupted.

Environment: AWS credentials as the SDK finds them; VERIFY_TOKEN; LOCAL_DIR, the directory of the local run (.local)
`;
