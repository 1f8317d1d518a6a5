import { type AttemptFailure, errorText } from '../text/error-text.ts';
import { t } from '../text/language.ts';

/** Why an attempt failed, and a link to what to do about it; nothing where none has failed. */
export function FailureCause({ failure }: { failure: AttemptFailure }) {
  if (failure.lastError === null) return null;
  return (
    <p>
      {errorText(failure)} <CauseLink code={failure.lastErrorCode} />
    </p>
  );
}

/** A link to the section of an error code in the API reference, which is in English. */
export function CauseLink({ code }: { code: AttemptFailure['lastErrorCode'] }) {
  if (code === null) return null;
  return (
    <a href={`/api/docs#cause-${code}`} hrefLang="en" aria-label={t.failures.whatToDoAbout(code)}>
      {t.failures.whatToDo}
    </a>
  );
}
