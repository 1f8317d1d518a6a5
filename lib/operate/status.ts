import type { Context, Report } from './context.ts';
import { attentionOf, stateOf } from './state.ts';
import { renderStatus } from './status-view.ts';

/** `status`. */
export async function status(context: Context): Promise<Report> {
  const { now, paint } = context;
  const state = await stateOf(context);
  const attention = attentionOf(state, now());
  return {
    text: renderStatus(state, attention, now(), paint),
    data: { ...state, attention },
    attention: attention.length > 0,
  };
}
