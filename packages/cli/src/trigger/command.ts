import { matching, text } from 'terminal/command-line.ts';
import { harmless } from 'terminal/format.ts';
import { connect } from '../connection/connect.ts';
import type { Context } from '../context.ts';
import { CommandError } from '../errors.ts';
import { apiCommand, endpointId } from '../flags.ts';
import { runCommand } from '../run.ts';
import { findTrigger, TRIGGERS, type TriggerStep } from './trigger.ts';

export const triggerCommand = () =>
  apiCommand(
    'trigger',
    'Makes an event happen, by the operations of the API that cause it: in a sandbox, or in the local run.',
    [
      'trigger conversation.created',
      'trigger message.received --text "Where is my order?"',
      'trigger webhook.test --endpoint whk_0192…',
    ],
  )
    .argument('<event type>', Object.keys(TRIGGERS).join(', '))
    .option('--channel <id>', 'channel of the conversation (web)', text)
    .option('--user <id>', 'external user, or who resolves the conversation (ada)', text)
    .option('--text <text>', 'text of the message, or reason of the handoff or ticket', text)
    .option(
      '--conversation <cnv_…>',
      'use this conversation instead of a new one',
      matching(/^cnv_\w+$/, 'the id of a conversation: cnv_…'),
    )
    .option('--endpoint <whk_…>', 'endpoint that webhook.test is sent to', endpointId)
    .option('--live', 'also with a live key: the event really happens in your organization');

type Flags = ReturnType<ReturnType<typeof triggerCommand>['opts']>;

export const runTrigger = (type: string, flags: Flags, context: Context): Promise<number> =>
  runCommand(flags, context, async (printer) => {
    const trigger = findTrigger(type);
    const { client, baseUrl, environment, isLocalRun } = await connect(flags, context);
    if (environment === 'live' && !isLocalRun && !flags.live) {
      throw new CommandError(
        'USAGE',
        `The key for ${baseUrl} is a live key. Use one of a sandbox, or give --live: customers' data would change.`,
      );
    }
    const { channel = 'web', user = 'ada', text = 'Hello', conversation, endpoint } = flags;
    const steps: TriggerStep[] = [];
    for await (const step of trigger(client, {
      channel,
      user,
      text,
      conversation,
      endpoint,
      signal: context.signal,
    })) {
      steps.push(step);
      printer.note(`  ${printer.paint('green', '✓')} ${step.operation}  ${harmless(step.id)}`);
    }
    printer.result({ type, baseUrl, environment, steps }, () => `Triggered ${type}.`);
  });
