import { matching } from 'terminal/command-line.ts';
import { harmless } from 'terminal/format.ts';
import { confirm } from '../ask.ts';
import { connect } from '../connection/connect.ts';
import type { Context } from '../context.ts';
import { apiCommand, receiverId } from '../flags.ts';
import { runCommand } from '../run.ts';
import { describeStep, planResend, resend } from './resend.ts';

export const resendCommand = () =>
  apiCommand(
    'resend',
    'Resends an event to all its endpoints or to one, or one delivery. A delivery that waits for its next attempt is attempted now.',
    ['resend evt_0192…', 'resend evt_0192… --endpoint whk_0192… --yes', 'resend dlv_0192…'],
  )
    .argument('<id>', 'id of an event or a delivery', matching(/^(?:evt|dlv)_\w+$/, 'evt_… or dlv_…'))
    .option('--endpoint <whk_…>', 'resend to this endpoint, or channel, only', receiverId)
    .option('--yes', 'do not ask')
    .option('--dry-run', 'show what would be sent');

type Flags = ReturnType<ReturnType<typeof resendCommand>['opts']>;

export const runResend = (id: string, flags: Flags, context: Context): Promise<number> =>
  runCommand(flags, context, async (printer) => {
    const { client, baseUrl, environment } = await connect(flags, context);
    const steps = await planResend(client, { id, endpoint: flags.endpoint }, context);
    for (const step of steps) printer.note(`  ${harmless(describeStep(step))}`);
    if (flags.dryRun) {
      if (printer.isJson) for (const step of steps) printer.result(step, () => '');
      return;
    }
    const question = `Resend ${steps.length === 1 ? 'it' : `these ${steps.length}`} at ${baseUrl} (${environment})?`;
    await confirm(question, { isGiven: flags.yes === true, terminal: context });
    for (const step of steps) {
      const resent = await resend(client, step, context);
      printer.result(
        resent,
        () => `  ${printer.paint('green', '✓')} ${resent.newDeliveryId} → ${resent.webhookId}`,
      );
    }
  });
