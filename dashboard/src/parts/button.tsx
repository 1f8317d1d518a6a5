import type { ReactNode } from 'react';
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components/Button';
import { t } from '../text/language.ts';
import styles from './button.module.css';

export interface ButtonProps extends Omit<AriaButtonProps, 'className' | 'children' | 'style'> {
  /** `danger` opens a confirmation, `destroy` is the confirmation. */
  look?: 'ordinary' | 'primary' | 'danger' | 'destroy' | 'plain';
  children: ReactNode;
}

/**
 * A button. While `isPending` it keeps the focus, does nothing, and screen readers are informed. Not
 * react-aria's own `isPending`: its message is named after the button, which may be gone with its dialog.
 */
export function Button({ look = 'ordinary', isPending, onPress, type, children, ...props }: ButtonProps) {
  const isWaiting = isPending === true;
  return (
    <>
      <AriaButton
        {...props}
        {...(isWaiting ? { 'aria-disabled': true, 'data-pending': true } : {})}
        {...(isWaiting || onPress === undefined ? {} : { onPress })}
        {...(type === undefined ? {} : { type: isWaiting ? 'button' : type })}
        className={buttonLook(look)}
      >
        {isWaiting ? <span className={styles.spinner} aria-hidden="true" /> : null}
        {children}
      </AriaButton>
      {isPending === undefined ? null : (
        <span role="status" className="visually-hidden">
          {isWaiting ? t.loading : ''}
        </span>
      )}
    </>
  );
}

/** For links that look like buttons. */
export const buttonLook = (look: NonNullable<ButtonProps['look']>): string =>
  [styles.button, styles[look]].filter(Boolean).join(' ');
