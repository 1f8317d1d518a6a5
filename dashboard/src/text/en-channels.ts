/** What the pages of channels say, in English. */
export const channels = {
  title: 'Channels',
  about:
    'Where conversations take place. A channel of kind http receives what agents and the assistant say. Create and delete channels with the API.',
  none: 'There are no channels',
  noneAbout: 'Create one with the API, and name it in the conversations that take place on it.',
  back: 'All channels',
  gone: 'This channel does not exist, or was deleted',
  kinds: { http: 'messages are sent to its URL', web_widget: 'browsers read its messages' },
  id: 'Channel ID',
  test: 'Send a test',
  disabled: 'Disabled: messages are not sent',
  disabledAbout:
    'Ten deliveries in a row failed, each with all of its attempts, or the operator disabled it. Repair its receiver, then resume the channel.',
  paused: 'Paused: messages are not sent',
  pauseTitle: 'Pause this channel?',
  pauseAbout:
    'Until you resume it, messages of agents and the assistant are skipped, which does not count as failures, and a running resend job stops. Resuming resends what was skipped.',
  resumeAbout:
    'The channel becomes active with the same secret. Messages that did not arrive are resent, the oldest first.',
  resumed: 'Resumed: the channel receives new messages again',
  resumedAbout: 'What did not arrive is resent by a job, which begins 90 seconds after resuming.',
};
