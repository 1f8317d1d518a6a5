import { unreachable } from '../api/failures.ts';

/** What loading a page's file needs of the tab that it is loaded in. */
interface Tab {
  /** Whether everything was loaded anew for a file that was missing. Known after that, too. */
  isReloaded(): boolean;
  markReloaded(isReloaded: boolean): void;
  /** Whether anything answers where the files are. */
  answers(): Promise<boolean>;
  /** Loads everything anew. What runs goes on running until then. */
  reload(): void;
}

/**
 * Loads files of pages. One that is missing was replaced by a deployment: then everything is loaded anew,
 * once, as what is missing after that is missing for another reason; not while nothing answers, because what
 * is in the page would be lost for nothing.
 * @returns rejects with an `ApiFailure`; never settles while everything is being loaded anew
 */
export const pageFiles =
  (tab: Tab) =>
  async <File>(load: () => Promise<File>): Promise<File> => {
    try {
      const file = await load();
      tab.markReloaded(false);
      return file;
    } catch (error) {
      if (tab.isReloaded() || !(await tab.answers())) throw unreachable(error);
      tab.markReloaded(true);
      tab.reload();
      return new Promise(() => undefined);
    }
  };

/** Whether the service that the page came from answers. */
export const answers = (): Promise<boolean> =>
  fetch('/', { method: 'HEAD', cache: 'no-store' }).then(
    () => true,
    () => false,
  );

const RELOADED = 'reloaded';

export const loadFile = pageFiles({
  isReloaded() {
    try {
      return sessionStorage.getItem(RELOADED) !== null;
    } catch {
      // Storage is refused: reloads could not be counted and would repeat forever.
      return true;
    }
  },
  markReloaded(isReloaded) {
    try {
      if (isReloaded) sessionStorage.setItem(RELOADED, new Date().toISOString());
      else sessionStorage.removeItem(RELOADED);
    } catch {
      // Storage is refused.
    }
  },
  answers,
  reload: () => window.location.reload(),
});
