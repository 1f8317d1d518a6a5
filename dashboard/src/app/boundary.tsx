import { Component, type ReactNode, useState } from 'react';
import { unreachable } from '../api/failures.ts';
import { Button } from '../parts/button.tsx';
import { Failure } from '../parts/notice.tsx';
import { t } from '../text/language.ts';
import { answers } from './page-files.ts';

interface BoundaryProps {
  /** What goes around what is shown instead. */
  around: (told: ReactNode) => ReactNode;
  /** Path; another one resets the boundary. */
  at?: string;
  children: ReactNode;
}

/** Shows an error where React would show nothing. */
export class Boundary extends Component<BoundaryProps, { error: unknown; hasFailed: boolean }> {
  override state = { error: undefined as unknown, hasFailed: false };

  static getDerivedStateFromError(error: unknown) {
    return { error, hasFailed: true };
  }

  override componentDidUpdate({ at }: BoundaryProps): void {
    if (this.state.hasFailed && at !== this.props.at) this.setState({ error: undefined, hasFailed: false });
  }

  override render(): ReactNode {
    const { around, children } = this.props;
    return this.state.hasFailed ? around(<Broken error={this.state.error} />) : children;
  }
}

/** What went wrong, and the way on. */
function Broken({ error }: { error: unknown }) {
  const [isPending, setPending] = useState(false);
  const [told, setTold] = useState(error);
  const reload = async () => {
    setPending(true);
    // The browser's own page for that knows no way back.
    if (await answers()) window.location.reload();
    else {
      setTold(unreachable(undefined));
      setPending(false);
    }
  };
  return (
    <div className="stack">
      <Failure error={told} />
      <div>
        <Button isPending={isPending} onPress={() => void reload()}>
          {t.failure.reload}
        </Button>
      </div>
    </div>
  );
}
