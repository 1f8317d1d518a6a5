import { useState } from 'react';
import type { Channel, usePause } from '../../api/channels.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { t } from '../../text/language.ts';

/** Pauses a channel after a confirmation, or resumes it. One button, which keeps the focus. */
export function PauseButton({
  channel,
  pausing,
}: {
  channel: Channel;
  pausing: ReturnType<typeof usePause>;
}) {
  const [isAsked, setAsked] = useState(false);
  const isActive = channel.status === 'active';
  return (
    <>
      <Button
        look={isActive ? 'ordinary' : 'primary'}
        isPending={!isAsked && pausing.isPending}
        onPress={() => (isActive ? setAsked(true) : pausing.mutate(false))}
      >
        {isActive ? t.endpoints.pause : t.endpoints.resume}
      </Button>
      {isAsked ? (
        <Confirm
          title={t.channels.pauseTitle}
          action={t.endpoints.pause}
          look="primary"
          isPending={pausing.isPending}
          error={pausing.error}
          onConfirm={() => pausing.mutate(true, { onSuccess: () => setAsked(false) })}
          onClose={() => setAsked(false)}
        >
          <p>{t.channels.pauseAbout}</p>
        </Confirm>
      ) : null}
    </>
  );
}
