import { useState } from 'react';
import { CopyButton } from '../../parts/copy.tsx';
import { TextField } from '../../parts/field.tsx';
import { Card } from '../../parts/page.tsx';
import { t } from '../../text/language.ts';
import { Preview } from './preview.tsx';
import { type Program, readProgram, withProgram } from './program.ts';
import { RegisterReceiver } from './register-receiver.tsx';
import styles from './sandbox.module.css';
import { Speed } from './speed.tsx';
import { Steps } from './steps.tsx';

const EXAMPLE: Program = {
  steps: [
    { does: 503, afterMs: 0 },
    { does: 'timeout', afterMs: 0 },
    { does: 200, afterMs: 2000 },
  ],
  speed: 1000,
};
const MAX_ADDRESS = 2048;

/**
 * Puts together the address of a simulated receiver, and shows what it makes of a delivery. Address and steps
 * change one another.
 */
export function Receiver({ hasSandbox }: { hasSandbox: boolean }) {
  const [address, setAddress] = useState(() => withProgram('https://example.com/hooks', EXAMPLE));
  // While the address is malformed, as it is in the midst of typing, the last one that was not is shown.
  const [program, setProgram] = useState<Program>(EXAMPLE);
  const read = readProgram(address.trim());
  const type = (text: string) => {
    setAddress(text);
    const typed = readProgram(text.trim());
    if (typed.ok) setProgram(typed.program);
  };
  const become = (next: Program) => {
    setProgram(next);
    setAddress(withProgram(address.trim(), next));
  };
  return (
    <Card title={t.program.title}>
      <p className="quiet">{t.program.about}</p>
      <TextField
        label={t.endpoints.address}
        hint={t.program.addressHint}
        isCode
        maxLength={MAX_ADDRESS}
        value={address}
        onChange={type}
        problem={read.ok ? undefined : t.program.problems[read.problem]}
      />
      <div className="row">
        <CopyButton text={address.trim()} what={t.endpoints.address} />
        <RegisterReceiver
          address={address.trim()}
          isPossible={hasSandbox && read.ok}
          hasSandbox={hasSandbox}
        />
      </div>
      <div className={styles.columns}>
        <div className="stack">
          <Steps steps={program.steps} onChange={(steps) => become({ ...program, steps })} />
          <Speed speed={program.speed} onChange={(speed) => become({ ...program, speed })} />
        </div>
        <Preview program={program} />
      </div>
    </Card>
  );
}
